"""Operations, a paragraph each: how it is issued, its gradients, its docstring.

One file per family or subject.
"""
