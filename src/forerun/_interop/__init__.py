"""Other libraries: `dlpack` and `lending` for their arrays; `import_hooks`, with what `einops`, `dask` and
`array_api_compat` are told when they are imported; `mxnet_modules`, what MXNet calls our modules.
"""
