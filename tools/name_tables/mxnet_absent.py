"""Facts that mxnet_names.py cannot see: why names of MXNet's are absent, and the differences of those that exist.

A name in full, or a place and ".*" for all in it that have no reason of their own.
"""

from __future__ import annotations

__all__ = ["ABSENT", "DIFFERS", "PARAMETERS"]

# Parameters that are not looked for: why no function takes them; "" where that needs no word.
PARAMETERS = {
    "prefix": "names follow from the attributes that blocks are assigned to",
    "params": "parameters are shared by `share_parameters`, or by `params=` of functions that have it",
    "sparse_grad": "gradients are dense",
    "grad_stype": "gradients are dense",
    "stype": "arrays are dense",
    "forward_stype": "arrays are dense",
    "ignore_sparse": "arrays are dense",
    "cudnn_off": "there is no cuDNN",
    "cudnn_tune": "there is no cuDNN",
    "workspace": "kernels take the memory that they need",
    "min_calib_range": "for quantization, which does not exist",
    "max_calib_range": "for quantization, which does not exist",
    "sym": "for the symbolic API",
    "op_name": "an internal parameter of MXNet's",
    # Operands that programs give by position.
    "data": "the first operand, which most functions take by position, or by NumPy's name",
    "a": "", "x": "", "b": "", "seq": "", "arrays": "", "array": "", "lhs": "", "rhs": "", "fn": "",
    "inputs": "", "states": "", "shape": "", "context": "",
    "output_prefix": "names follow from the attributes that blocks are assigned to",
}  # fmt: skip

_SPARSE = "of sparse storage: arrays and gradients are dense here."
_SYMBOLIC = "of the symbolic API: `hybridize` captures a block's operations, and there are no symbols."
_NAMED = "of 1.x's names by prefix: parameters are named by the attributes that their blocks are assigned to."
_FILES = "a whole model as files: `export` and `SymbolBlock.imports`, or `save_parameters`, do that."
_OLD = "a name that 1.x itself has deprecated; it is "
_AUGMENTERS = """\
augmenters of 1.x's iterators; `gluon.data.vision.transforms`, and `gluon.contrib.data.vision` for images with boxes, do
the same as blocks."""
_ITERATORS = """\
an iterator of `mx.io`'s batches; `gluon.contrib.data.vision.ImageDataLoader` and `ImageBboxDataLoader` exist."""
_STORE = """\
there are no servers that hold values by key: `gluon.Trainer` sums gradients over devices and
ranks, and updates parameters, by operations of its own
(training.md describes its `kvstore=`)."""
_ESTIMATOR = """\
a training loop as a class with handlers is not there: loops are written out, over `autograd.record` and
`Trainer.step`."""
_PROBABILITY = """\
distributions as classes are not there: `np.random` draws, and densities are written with `np` and `npx`
(`npx.gammaln`, `npx.erf`)."""
_FINANCE = "a function of finance that NumPy no longer has; the package numpy-financial has it."
_GONE = "NumPy 2, whose names `np` has, took this name away: "
_GPU = "`forerun info` and `forerun.memory(npx.gpu(0))` say it."
_IMAGES = "MXNet's operation behind a transform; `gluon.data.vision.transforms` has the transform."
_RECORDS = """\
records are read, by `gluon.data.RecordFileDataset` and `gluon.data.vision.ImageRecordDataset`, and not written."""
_SETTING = "MXNet's switch between the meanings of shapes and arrays of 1.x and 2.0: those of 2.0 hold here always."
_INT8 = "8-bit products for Intel's inference are not there."
_WINDOW = """\
attention within a sliding window has no kernel here; `npx.masked_softmax` with a mask of a band gives its values."""
_METRICS = "a helper of MXNet's metrics; those here check shapes themselves."
_LUA = "a placeholder for criterions of Lua Torch; `Loss` does the same."
_COUNT = "there is one count, over all batches since `reset`: "
_ENVIRONMENT = "`os.environ` is read when the package is imported; settings change by `forerun.configure`."
_FLOATS = "`npx.set_np(dtype=True)` and `npx.reset_np` switch it for the process."
_OUT = "`__dlpack__` hands memory out: `from_dlpack` of the other library takes the array."

ABSENT = {
    "autograd.get_symbol": _SYMBOLIC,
    "context.gpu_memory_info": _GPU, "device.gpu_memory_info": _GPU, "npx.gpu_memory_info": _GPU,
    "util.get_gpu_count": "`npx.num_gpus` says it.", "util.get_gpu_memory": _GPU,
    "util.get_cuda_compute_capability": _GPU,
    # Blocks
    "gluon.Block.load": _FILES,
    "gluon.Block.save": _FILES,
    "gluon.Block.load_params": _OLD + "`load_parameters`.",
    "gluon.Block.save_params": _OLD + "`save_parameters`.",
    "gluon.Block.name_scope": _NAMED, "gluon.Block.prefix": _NAMED, "gluon.ParameterDict.prefix": _NAMED,
    "gluon.HybridBlock.hybrid_forward": "users' blocks define it, and it is called; the base class does not have it.",
    "gluon.HybridBlock.infer_type": "dtypes are those of the parameters (`cast`), and are not inferred.",
    "gluon.HybridBlock.optimize_for": "for backends that take over parts of a graph; `hybridize` is all there is.",
    "gluon.HybridBlock.infer_shape": "blocks with shapes to infer define it.",
    "gluon.Parameter.list_row_sparse_data": _SPARSE, "gluon.Parameter.row_sparse_data": _SPARSE,
    "gluon.Parameter.stype": _SPARSE, "gluon.Parameter.grad_stype": _SPARSE,
    "gluon.Constant.list_row_sparse_data": _SPARSE, "gluon.Constant.row_sparse_data": _SPARSE,
    "gluon.Parameter.attributes": _SYMBOLIC, "gluon.Parameter.var": _SYMBOLIC,
    "gluon.Parameter.structure_name": "`collect_params` has the names in the structure as keys.",
    "gluon.Parameter.uuid": "a mark of MXNet's for its own use; `is` compares parameters.",
    "gluon.ParameterDict.list_ctx": "each parameter has `list_ctx`.",
    "gluon.ParameterDict.load_dict": "`Block.load_dict` does it.",
    "gluon.contrib.nn.SparseEmbedding": _SPARSE,
    "gluon.contrib.estimator.*": _ESTIMATOR,
    "gluon.data.DataLoader.clean": "loaders free an epoch's resources when it ends or is left.",
    "gluon.data.DataLoader.refresh": "each `iter(loader)` is a new epoch.",
    "gluon.probability.*": _PROBABILITY,
    "gluon.metric.Torch": _LUA,
    "metric.Torch": _LUA,
    "metric.Caffe": "a placeholder for criterions of Caffe; `Loss` does the same.",
    "gluon.metric.check_label_shapes": _METRICS,
    "metric.check_label_shapes": _METRICS,
    "metric.EvalMetric.get_config": "nothing serialises metrics: `create` is called with their settings.",
    "metric.EvalMetric.get_global": _COUNT + "`get`.",
    "metric.EvalMetric.get_global_name_value": _COUNT + "`get_name_value`.",
    "metric.EvalMetric.reset_local": _COUNT + "`reset`.",
    # Images, records
    "image.ImageIter": _ITERATORS, "image.ImageDetIter": _ITERATORS, "image.*": _AUGMENTERS,
    "npx.image.*": _IMAGES,
    "recordio.*": _RECORDS,
    # Optimizers, initializers, stores
    "init.FusedRNN": "recurrent layers have a parameter for each weight, so there is no fused one to initialise.",
    "init.RNNFused": "recurrent layers have a parameter for each weight, so there is no fused one to initialise.",
    "init.load": "a class of 1.x under a second name: it is `Load`.",
    "init.Initializer.dumps": "initializers are not written as text: `repr` shows their settings.",
    "init.Initializer.set_verbosity": "a setting for printing of 1.x's modules; `Load` has `verbose`.",
    "optimizer.LBSGD": "2.0 has dropped it; `LARS` with a scheduler that warms up does its work.",
    "optimizer.ccSGD": "2.0 has dropped this second name of `SGD`.",
    "optimizer.Optimizer.set_lr_scale": _OLD + "`set_lr_mult`.",
    "optimizer.Optimizer.fused_step": (
        "steps are fused by recording `step` (docs/explanation/autograd.md), not by a second function."
    ),
    "kvstore.*": _STORE, "kvstore.KVStore.*": _STORE, "kvstore.KVStoreBase.*": _STORE,
    "util.getenv": _ENVIRONMENT,
    "util.setenv": _ENVIRONMENT,
    "util.default_array": "arrays are of `np` always: `np.array`.",
    "util.np_default_dtype": _FLOATS,
    "util.use_np_default_dtype": _FLOATS,
    "util.set_np_default_dtype": _FLOATS,
    "util.is_np_default_dtype": "`np.zeros(1).dtype` tells it.",
    "npx.is_np_default_dtype": "`np.zeros(1).dtype` tells it.",
    "util.set_np": "`npx` has it.", "util.reset_np": "`npx` has it.", "util.*": _SETTING,
    # np
    "np.Inf": _GONE + "`inf`.", "np.NAN": _GONE + "`nan`.", "np.NaN": _GONE + "`nan`.", "np.NINF": _GONE + "`-inf`.",
    "np.PINF": _GONE + "`inf`.", "np.alltrue": _GONE + "`all`.", "np.sometrue": _GONE + "`any`.",
    "np.product": _GONE + "`prod`.", "np.round_": _GONE + "`round`.", "np.msort": _GONE + "`sort(x, 0)`.",
    "np.in1d": _GONE + "`isin`.", "np.trapz": _GONE + "`trapezoid`.", "np.row_stack": _GONE + "`vstack`.",
    **{f"np.{name}": _FINANCE for name in ("mirr", "npv", "ppmt", "pv", "rate")},
    "np.ndarray.as_in_device": "a new word of 2.0's development; `as_in_ctx` and `to_device` do it.",
    "np.ndarray.broadcast_like": "`npx.broadcast_like` is the function.",
    "np.ndarray.drop_grad": "`detach()` gives the array without its gradient.",
    "np.ndarray.fresh_grad": "a mark that MXNet's trainer sets; the trainer here counts writes of gradients.",
    "np.ndarray.to_dlpack_for_read": _OUT,
    "np.ndarray.to_dlpack_for_write": _OUT,
    # npx
    "npx.add_n": "`sum` of a list of arrays does it, and is fused.",
    "npx.all_finite": "`np.isfinite(x).all()` does it.",
    "npx.bipartite_matching": "it waits for values one after another, and has no kernel here.",
    "npx.cond": "`if` on a value, or `np.where`: programs are Python.",
    "npx.while_loop": "`while` on a value: programs are Python.",
    "npx.constraint_check": "`assert` on a value: reading it waits.",
    "npx.from_dlpack": "`np.from_dlpack` does it.", "npx.from_numpy": "`np.asarray` does it.",
    "npx.to_dlpack_for_read": _OUT,
    "npx.to_dlpack_for_write": _OUT,
    "npx.hard_sigmoid": "`np.clip(alpha * x + beta, 0, 1)` does it, and is fused.",
    "npx.mish": "`x * np.tanh(np.log1p(np.exp(x)))` does it, and is fused.",
    **{f"npx.intgemm_{name}": _INT8
       for name in ("fully_connected", "maxabsolute", "prepare_data", "prepare_weight", "take_weight")},
    **{f"npx.sldwin_atten_{name}": _WINDOW for name in ("context", "mask_like", "score")},
    "npx.l2_normalization": "`x / np.linalg.norm(x, axis=..., keepdims=True)` does it, and is fused.",
    "npx.multi_sum_sq": "`np.square(x).sum()` of each array does it.",
    "npx.norm": "`np.linalg.norm` does it.",
    "npx.multibox_detection": "D2L writes detection out in `np`; only the anchors (`multibox_prior`) have a function.",
    "npx.multibox_target": "D2L writes detection out in `np`; only the anchors (`multibox_prior`) have a function.",
    "npx.rnn": "the layers of `gluon.rnn` exist; their operation takes weights by themselves, not in one vector.",
    "npx.savez": "`np.savez` does it.",
    "npx.slice_like": "basic slices do it: `x[:other.shape[0]]`.",
    "npx.sync_batch_norm": "statistics over several machines are not there; `gluon.nn.SyncBatchNorm` is of one device.",
    "npx.random.categorical": "`np.random.choice` with `p`, or `np.random.multinomial`, draw by probabilities.",
    "npx.random.multinomial": "`np.random.multinomial` draws counts by probabilities.",
    "npx.random.normal_n": "`np.random.normal` with `size=batch_shape + shape` does it.",
    "npx.random.uniform_n": "`np.random.uniform` with `size=batch_shape + shape` does it.",
}  # fmt: skip

_STEP = "subclasses define `step(weight, g, state, lr)` for one weight, where 2.0 hands over lists"
_EPSILON = "`epsilon` is added to the corrected root, as in the paper, MXNet adds it before the correction"
_IMPORTED = "made by `SymbolBlock.imports` of files that `export` wrote, not of `outputs` and `inputs`"
_FUSED = "without 2.0's `use_sequence_length`; 2.0 keeps all parameters in one vector, `rnn_param`"
_RULE = "subclasses define `batch` and `value`; sums are read at `get`, not at each `update`"

DIFFERS = {
    "gluon.SymbolBlock": _IMPORTED, "gluon.nn.SymbolBlock": _IMPORTED,
    "gluon.HybridBlock.export": "the files are of a format of forerun's own",
    "gluon.Trainer": "`kvstore` is a word or a result of `kvstore.create`; `compression_params` must be None",
    "gluon.Trainer.save_states": "the parameter is `filename`, not `fname`; the file is an npz of arrays",
    "gluon.Trainer.load_states": "the parameter is `filename`, not `fname`; reads files of `save_states`",
    "gluon.nn.SyncBatchNorm": "statistics of one device",
    "gluon.contrib.nn.SyncBatchNorm": "statistics of one device",
    "gluon.rnn.LSTM": "without cuDNN's `state_clip_min`, `state_clip_max`, `state_clip_nan`; " + _FUSED,
    "gluon.rnn.GRU": _FUSED, "gluon.rnn.RNN": _FUSED,
    "gluon.rnn.RecurrentCell.infer_shape": "takes `(x, states)`, too; cells in a row take the width of the one before",
    "gluon.loss.CTCLoss": "labels that need more steps than there are have loss inf, not 0",
    "gluon.data.DataLoader": "`pin_memory`, `pin_device_id` and `try_nopython` make no difference",
    "optimizer.Optimizer": _STEP,
    "optimizer.Optimizer.step": _STEP,
    "optimizer.Optimizer.create_state": "a state is a dict of arrays by name, with the number of steps as \"t\"",
    "optimizer.Updater": "`get_states` gives the bytes of an npz file, where MXNet pickles",
    "optimizer.Adam": _EPSILON, "optimizer.AdamW": _EPSILON,
    "optimizer.Nadam": "momentum grows by steps of each weight, where 1.x counts the updates of all weights together",
    "optimizer.Adamax": "has `epsilon`, which MXNet fixes at 1e-8",
    "metric.EvalMetric": _RULE,
    "gluon.metric.EvalMetric": _RULE,
    "metric.F1": "`average` is over classes, as in 2.0; 1.x's \"macro\", its default, is the mean over batches",
    "metric.MCC": "over all batches: without 1.x's `average`",
    "metric.PearsonCorrelation": "over all batches: without 1.x's `average`",
    "metric.PCC": "over all batches: without 1.x's `has_global_stats`",
    "metric.Perplexity": "`ignore_label` may be left out",
    "gluon.metric.Perplexity": "positional parameters are in 1.x's order, `ignore_label` first",
    "context.cpu_pinned": "is `cpu(0)`: plugins stage copies themselves",
    "device.cpu_pinned": "is `cpu(0)`: plugins stage copies themselves",
    "npx.cpu_pinned": "is `cpu(0)`: plugins stage copies themselves",
    "image.imread": "read by Pillow, not OpenCV", "image.imdecode": "read by Pillow, not OpenCV",
    "image.imresize": "by Pillow's filters: images that get smaller are smoothed",
}  # fmt: skip
