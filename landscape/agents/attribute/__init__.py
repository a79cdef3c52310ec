"""The attributor: which one paper does an excerpt cite?"""
