"""Papers and thesauri from the network: arXiv, ADS, the Hugging Face Hub and the UAT.

Every fetcher writes plain files that `landscape build` reads, goes on where it was cut off when
the same call is made again, and says in one sentence what to do when a server will not answer.
Import them from their modules: `arxiv`, `ads`, `pathfinder`, `uat`.
"""
