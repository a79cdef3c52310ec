__all__ = ["build_topicsdensity_gridmeasure_qualityplaceproject"]
