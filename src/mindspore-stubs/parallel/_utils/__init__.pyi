# SPDX-License-Identifier: Apache-2.0
"""What mindspore.parallel._utils means here; written by `python -m tools.stubs`, which see."""


from mycel.parallel import *
from mycel.parallel.context import check_device_number as __device_number_check
_device_number_check = __device_number_check
from mycel.parallel.context import get_gradients_mean as __get_mirror_mean
_get_mirror_mean = __get_mirror_mean
from mycel.parallel.context import get_device_num as __get_device_num
_get_device_num = __get_device_num
from mycel.parallel.context import get_parallel_mode as __get_parallel_mode
_get_parallel_mode = __get_parallel_mode
from mycel.parallel.context import get_gradients_mean as __get_gradients_mean
_get_gradients_mean = __get_gradients_mean
from mycel.parallel.context import get_global_rank as __get_global_rank
_get_global_rank = __get_global_rank
from mycel.parallel.context import get_full_batch as __get_full_batch
_get_full_batch = __get_full_batch
from mycel.parallel.context import get_enable_parallel_optimizer as __get_enable_parallel_optimizer
_get_enable_parallel_optimizer = __get_enable_parallel_optimizer
from mycel.parallel.context import get_parameter_broadcast as __get_parameter_broadcast
_get_parameter_broadcast = __get_parameter_broadcast
from mycel.parallel.context import get_pipeline_stages as __get_pipeline_stages
_get_pipeline_stages = __get_pipeline_stages
from mycel.parallel.context import get_stage_device_num as __get_stage_device_num
_get_stage_device_num = __get_stage_device_num
from mycel.parallel.context import is_sharding_propagation as __is_sharding_propagation
_is_sharding_propagation = __is_sharding_propagation
from mycel.parallel.context import is_in_auto_parallel_mode as __is_in_auto_parallel_mode
_is_in_auto_parallel_mode = __is_in_auto_parallel_mode
from mycel.parallel.context import is_in_data_parallel_mode as __is_in_data_parallel_mode
_is_in_data_parallel_mode = __is_in_data_parallel_mode
from mycel.parallel.context import is_in_hybrid_parallel_mode as __is_in_hybrid_parallel_mode
_is_in_hybrid_parallel_mode = __is_in_hybrid_parallel_mode
from mycel.parallel.context import is_pynative_parallel as __is_pynative_parallel
_is_pynative_parallel = __is_pynative_parallel
from mycel.communication import is_initialized as __is_initialized
_is_initialized = __is_initialized
