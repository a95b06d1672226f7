# SPDX-License-Identifier: Apache-2.0
"""Sentences of different lengths are read by an LSTM, which says whether they are kind."""

import argparse

import mindspore as ms
import mindspore.dataset as ds
import mindspore.nn as nn
import numpy as np
from mindspore.common.initializer import Uniform

POSITIVE = ["good", "great", "lovely", "superb", "charming", "bright"]
NEGATIVE = ["bad", "awful", "dreary", "weak", "clumsy", "dull"]
NEUTRAL = ["the", "a", "film", "plot", "actor", "scene", "and", "was", "very", "it"]
VOCABULARY = {word: i for i, word in enumerate(["<pad>", "not", *POSITIVE, *NEGATIVE, *NEUTRAL])}


def make_sentences(number, max_len, generator):
    """Sentences with one judging word; a "not" before it turns it round."""
    for _ in range(number):
        length = generator.integers(4, max_len + 1)
        words = list(generator.choice(NEUTRAL, length))
        label = int(generator.integers(2))
        negated = generator.random() < 0.3
        place = generator.integers(1, length)
        words[place] = generator.choice(POSITIVE if label != negated else NEGATIVE)
        if negated:
            words[place - 1] = "not"
        yield words, label


class SentenceDataset:
    def __init__(self, number, max_len, seed):
        self.samples = list(make_sentences(number, max_len, np.random.default_rng(seed)))
        self.max_len = max_len

    def __getitem__(self, index):
        words, label = self.samples[index]
        ids = [VOCABULARY[word] for word in words]
        padded = np.array(ids + [0] * (self.max_len - len(ids)), np.int32)
        return padded, np.int32(len(ids)), np.float32(label)

    def __len__(self):
        return len(self.samples)


class RNN(nn.Cell):
    def __init__(self, vocab_size, embedding_dim, hidden_dim, output_dim, pad_idx):
        super().__init__()
        self.embedding = nn.Embedding(
            vocab_size, embedding_dim, embedding_table=Uniform(0.5), padding_idx=pad_idx
        )
        self.rnn = nn.LSTM(embedding_dim, hidden_dim, batch_first=True, bidirectional=True)
        self.fc = nn.Dense(hidden_dim * 2, output_dim)
        self.dropout = nn.Dropout(p=0.1)

    def construct(self, inputs, lengths):
        embedded = self.dropout(self.embedding(inputs))
        _, (hidden, _) = self.rnn(embedded, seq_length=lengths)
        hidden = ms.ops.concat((hidden[-2], hidden[-1]), axis=1)
        return self.fc(self.dropout(hidden)).squeeze(1)


def binary_accuracy(preds, y):
    rounded_preds = np.around(ms.ops.sigmoid(preds).asnumpy())
    return (rounded_preds == y.asnumpy()).astype(np.float32).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", type=int, default=ms.PYNATIVE_MODE)
    parser.add_argument("--num_epochs", type=int, default=4)
    args = parser.parse_args()
    ms.set_context(mode=args.mode)
    ms.set_seed(7)

    columns = ["ids", "length", "label"]
    train_set = ds.GeneratorDataset(SentenceDataset(640, 8, 1), columns, shuffle=True).batch(32)
    test_set = ds.GeneratorDataset(SentenceDataset(160, 8, 2), columns, shuffle=False).batch(32)

    model = RNN(len(VOCABULARY), 12, 12, 1, 0)
    loss_fn = nn.BCEWithLogitsLoss(reduction="mean")
    optimizer = nn.Adam(model.trainable_params(), learning_rate=0.02)

    def forward_fn(ids, lengths, label):
        return loss_fn(model(ids, lengths), label)

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)

    for epoch in range(args.num_epochs):
        model.set_train()
        losses = []
        for ids, lengths, label in train_set.create_tuple_iterator():
            loss, grads = grad_fn(ids, lengths, label)
            grads = ms.ops.clip_by_global_norm(grads, 5.0)
            optimizer(grads)
            losses.append(float(loss))
        model.set_train(False)
        accuracies = [
            binary_accuracy(model(row["ids"], row["length"]), row["label"])
            for row in test_set.create_dict_iterator()
        ]
        print(f"epoch {epoch}: loss: {np.mean(losses):.5f}, accuracy: {np.mean(accuracies):.4f}")
    padding = model.embedding.embedding_table.asnumpy()[0]
    print(f"padding: {np.abs(padding).max():.4f}")


if __name__ == "__main__":
    main()
