"""The classifiers, grouped by what they regress on."""

from granulearn.estimators import (
    ACRVFLClassifier,
    CRVFLClassifier,
    ELMClassifier,
    FGBRVFLClassifier,
    GBRVFLClassifier,
    GEGBRVFLClassifier,
    RVFLClassifier,
    SDAPGBRVFLClassifier,
)

SAMPLE_CLASSIFIERS = [RVFLClassifier, ELMClassifier, CRVFLClassifier, ACRVFLClassifier]
BALL_CLASSIFIERS = [GBRVFLClassifier, FGBRVFLClassifier, SDAPGBRVFLClassifier, GEGBRVFLClassifier]
ALL_CLASSIFIERS = SAMPLE_CLASSIFIERS + BALL_CLASSIFIERS
