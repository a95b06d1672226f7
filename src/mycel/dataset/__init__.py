# SPDX-License-Identifier: Apache-2.0
"""Data sets: rows with named columns from Python, arrays and files; mapped, shuffled, batched."""

from mycel.dataset import audio, config, dataloader, debug, samplers, text, transforms, vision
from mycel.dataset.engine.batching import (
    BatchDataset,
    BatchInfo,
    BucketBatchByLengthDataset,
    PaddedBatchDataset,
)
from mycel.dataset.engine.cache import DatasetCache
from mycel.dataset.engine.callbacks import DSCallback
from mycel.dataset.engine.dataset import (
    AudioBaseDataset,
    Dataset,
    TextBaseDataset,
    UnionBaseDataset,
    VisionBaseDataset,
)
from mycel.dataset.engine.debugging import DebugHook
from mycel.dataset.engine.files import CSVDataset, TextFileDataset, TFRecordDataset
from mycel.dataset.engine.held import NumpySlicesDataset, PaddedDataset
from mycel.dataset.engine.images import (
    CelebADataset,
    Cifar10Dataset,
    Cifar100Dataset,
    FakeImageDataset,
    FashionMnistDataset,
    ImageFolderDataset,
    KMnistDataset,
    MnistDataset,
)
from mycel.dataset.engine.iterators import DictIterator, Iterator, TupleIterator
from mycel.dataset.engine.joining import ConcatDataset, ZipDataset
from mycel.dataset.engine.joining import split as _split
from mycel.dataset.engine.lines import LineReader
from mycel.dataset.engine.nodes import (
    FilterDataset,
    MapDataset,
    ProjectDataset,
    RenameDataset,
    RepeatDataset,
    ShuffleDataset,
    SkipDataset,
    TakeDataset,
)
from mycel.dataset.engine.operations import Kinds as _Kinds
from mycel.dataset.engine.operations import Operations as _Operations
from mycel.dataset.engine.operations import zip
from mycel.dataset.engine.records import MindDataset
from mycel.dataset.engine.records import save as _save
from mycel.dataset.engine.schema import Schema
from mycel.dataset.engine.sending import TransferDataset as _TransferDataset
from mycel.dataset.engine.sources import GeneratorDataset, MappableDataset, SourceDataset
from mycel.dataset.engine.waiting import SyncWaitDataset
from mycel.dataset.engine.waiting import update as _sync_update
from mycel.dataset.engine.writing import compare, deserialize, serialize, show
from mycel.dataset.engine.writing import to_json as _to_json
from mycel.dataset.published.classes import (
    Caltech101Dataset,
    Caltech256Dataset,
    Flowers102Dataset,
    Food101Dataset,
    LSUNDataset,
    OmniglotDataset,
    Places365Dataset,
    RenderedSST2Dataset,
    SUN397Dataset,
)
from mycel.dataset.published.digits import (
    EMnistDataset,
    QMnistDataset,
    SemeionDataset,
    STL10Dataset,
    SVHNDataset,
    USPSDataset,
)
from mycel.dataset.published.listed import (
    ManifestDataset,
    RandomDataset,
)
from mycel.dataset.published.pictures import (
    DIV2KDataset,
    FlickrDataset,
    LFWDataset,
    PhotoTourDataset,
    SBDataset,
    SBUDataset,
)
from mycel.dataset.published.scenes import (
    CityscapesDataset,
    CocoDataset,
    KITTIDataset,
    VOCDataset,
    WIDERFaceDataset,
)
from mycel.dataset.published.sounds import (
    CMUArcticDataset,
    GTZANDataset,
    LibriTTSDataset,
    LJSpeechDataset,
    SpeechCommandsDataset,
    TedliumDataset,
    YesNoDataset,
)
from mycel.dataset.published.texts import (
    AGNewsDataset,
    AmazonReviewDataset,
    CLUEDataset,
    CoNLL2000Dataset,
    DBpediaDataset,
    EnWik9Dataset,
    IMDBDataset,
    PennTreebankDataset,
    SogouNewsDataset,
    SQuADDataset,
    SST2Dataset,
    UDPOSDataset,
    WikiTextDataset,
    YahooAnswersDataset,
    YelpReviewDataset,
)
from mycel.dataset.published.translations import (
    IWSLT2016Dataset,
    IWSLT2017Dataset,
    Multi30kDataset,
)
from mycel.dataset.samplers import (
    BuiltinSampler,
    DistributedSampler,
    IterSampler,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Shuffle,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)
from mycel.dataset.transforms.operations import Implementation

# What the methods of every dataset make; see `engine.operations`.
_Operations._wired = _Kinds(
    batch=BatchDataset,
    padded_batch=PaddedBatchDataset,
    bucket_batch_by_length=BucketBatchByLengthDataset,
    map=MapDataset,
    filter=FilterDataset,
    shuffle=ShuffleDataset,
    repeat=RepeatDataset,
    skip=SkipDataset,
    take=TakeDataset,
    device_que=_TransferDataset,
    zip=ZipDataset,
    concat=ConcatDataset,
    rename=RenameDataset,
    project=ProjectDataset,
    split=_split,
    save=_save,
    sync_wait=SyncWaitDataset,
    sync_update=_sync_update,
    to_json=_to_json,
)

set_seed = config.set_seed
get_seed = config.get_seed
