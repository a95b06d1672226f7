# SPDX-License-Identifier: Apache-2.0
"""What mindspore.parallel._utils means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel import *
from mycel.parallel.context import check_device_number as __device_number_check  # pyright: ignore
_device_number_check = __device_number_check  # pyright: ignore
from mycel.parallel.context import get_gradients_mean as __get_mirror_mean  # pyright: ignore
_get_mirror_mean = __get_mirror_mean  # pyright: ignore
from mycel.parallel.context import get_device_num as __get_device_num  # pyright: ignore
_get_device_num = __get_device_num  # pyright: ignore
from mycel.parallel.context import get_parallel_mode as __get_parallel_mode  # pyright: ignore
_get_parallel_mode = __get_parallel_mode  # pyright: ignore
from mycel.parallel.context import get_gradients_mean as __get_gradients_mean  # pyright: ignore
_get_gradients_mean = __get_gradients_mean  # pyright: ignore
from mycel.parallel.context import get_global_rank as __get_global_rank  # pyright: ignore
_get_global_rank = __get_global_rank  # pyright: ignore
from mycel.parallel.context import get_full_batch as __get_full_batch  # pyright: ignore
_get_full_batch = __get_full_batch  # pyright: ignore
from mycel.parallel.context import get_enable_parallel_optimizer as __get_enable_parallel_optimizer  # pyright: ignore
_get_enable_parallel_optimizer = __get_enable_parallel_optimizer  # pyright: ignore
from mycel.parallel.context import get_parameter_broadcast as __get_parameter_broadcast  # pyright: ignore
_get_parameter_broadcast = __get_parameter_broadcast  # pyright: ignore
from mycel.parallel.context import get_pipeline_stages as __get_pipeline_stages  # pyright: ignore
_get_pipeline_stages = __get_pipeline_stages  # pyright: ignore
from mycel.parallel.context import get_stage_device_num as __get_stage_device_num  # pyright: ignore
_get_stage_device_num = __get_stage_device_num  # pyright: ignore
from mycel.parallel.context import is_sharding_propagation as __is_sharding_propagation  # pyright: ignore
_is_sharding_propagation = __is_sharding_propagation  # pyright: ignore
from mycel.parallel.context import is_in_auto_parallel_mode as __is_in_auto_parallel_mode  # pyright: ignore
_is_in_auto_parallel_mode = __is_in_auto_parallel_mode  # pyright: ignore
from mycel.parallel.context import is_in_data_parallel_mode as __is_in_data_parallel_mode  # pyright: ignore
_is_in_data_parallel_mode = __is_in_data_parallel_mode  # pyright: ignore
from mycel.parallel.context import is_in_hybrid_parallel_mode as __is_in_hybrid_parallel_mode  # pyright: ignore
_is_in_hybrid_parallel_mode = __is_in_hybrid_parallel_mode  # pyright: ignore
from mycel.parallel.context import is_pynative_parallel as __is_pynative_parallel  # pyright: ignore
_is_pynative_parallel = __is_pynative_parallel  # pyright: ignore
from mycel.communication import is_initialized as __is_initialized  # pyright: ignore
_is_initialized = __is_initialized  # pyright: ignore
