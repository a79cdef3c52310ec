"""Language models and rerankers on servers or on this machine.

>>> from landscape import llm
>>> llm.connect(base_url="http://localhost:11434/v1", model="qwen3").model
'qwen3'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
