"""What the ConceptWorld paper reports: F1 of five models on each test, class by class (Tables 4, 6, 8 and 10).

The classes are in the order of the experiment's file. The ResNet is the pretrained one.
"""

MODELS = ("ResNet", "WReN", "CNN", "PrediNet", "MLP")

F1: dict[tuple[str, str], dict[str, tuple[float, ...]]] = {
    ("sequences", "length_3"): {
        "ResNet": (0.997, 0.993, 0.990),
        "WReN": (0.915, 0.921, 0.828),
        "CNN": (0.945, 0.964, 0.929),
        "PrediNet": (0.798, 0.795, 0.705),
        "MLP": (0.818, 0.805, 0.119),
    },
    ("sequences", "length_5"): {
        "ResNet": (0.929, 0.935, 0.827),
        "WReN": (0.848, 0.842, 0.499),
        "CNN": (0.844, 0.829, 0.304),
        "PrediNet": (0.733, 0.709, 0.321),
        "MLP": (0.800, 0.800, 0.0),
    },
    ("sequences", "length_7"): {
        "ResNet": (0.881, 0.890, 0.646),
        "WReN": (0.809, 0.814, 0.350),
        "CNN": (0.822, 0.803, 0.05),
        "PrediNet": (0.717, 0.689, 0.195),
        "MLP": (0.800, 0.800, 0.0),
    },
    ("boxworld", "length_3"): {
        "ResNet": (0.301, 0.427, 0.999),
        "WReN": (0.584, 0.379, 0.986),
        "CNN": (0.465, 0.439, 1.0),
        "PrediNet": (0.361, 0.416, 0.551),
        "MLP": (0.447, 0.456, 0.901),
    },
    ("boxworld", "length_5"): {
        "ResNet": (0.303, 0.411, 0.999),
        "WReN": (0.642, 0.154, 0.986),
        "CNN": (0.447, 0.412, 1.0),
        "PrediNet": (0.368, 0.398, 0.551),
        "MLP": (0.441, 0.447, 0.901),
    },
    ("patterns", "squares_4x4"): {
        "ResNet": (0.7416, 0.8295, 0.3221, 0.3807),
        "WReN": (0.4645, 0.5293, 0.10189, 0.2415),
        "CNN": (0.97879, 0.984699, 0.6614, 0.3566),
        "PrediNet": (0.2388, 0.3063, 0.183, 0.1833),
        "MLP": (0.9998, 1.0, 0.5157, 0.5074),
    },
    ("substitution", "one_substitution"): {
        "ResNet": (0.603, 0.5774, 0.0517, 0.0941, 0.1159),
        "WReN": (0.582, 0.594, 0.2974, 0.2031, 0.207),
        "CNN": (0.5806, 0.586, 0.0908, 0.0603, 0.1157),
        "PrediNet": (0.3656, 0.4705, 0.2854, 0.357, 0.2023),
        "MLP": (0.3916, 0.4083, 0.217, 0.0748, 0.1757),
    },
    ("substitution", "two_substitutions"): {
        "ResNet": (0.6008, 0.5479, 0.0, 0.0005, 0.001),
        "WReN": (0.5246, 0.5486, 0.0324, 0.0095, 0.0457),
        "CNN": (0.5612, 0.581, 0.0, 0.0, 0.0),
        "PrediNet": (0.3324, 0.4235, 0.0759, 0.0997, 0.081),
        "MLP": (0.3291, 0.3989, 0.0039, 0.0, 0.0326),
    },
}

FURTHER: dict[tuple[str, str], dict[str, tuple[float, ...]]] = {
    ("sequences", "length_3"): {"ResNet from scratch": (0.992, 0.991, 0.981)},
    ("sequences", "length_5"): {"ResNet from scratch": (0.905, 0.913, 0.742)},
    ("sequences", "length_7"): {"ResNet from scratch": (0.855, 0.867, 0.512)},
    ("substitution-curriculum", "one_substitution"): {
        "ResNet": (0.6857, 0.7071, 0.2522, 0.3024, 0.3785),
        "WReN": (0.4751, 0.4327, 0.2935, 0.197, 0.2415),
        "CNN": (0.5576, 0.5861, 0.001, 0.005, 0.0541),
        "PrediNet": (0.2393, 0.1333, 0.1834, 0.2958, 0.138),
        "MLP": (0.292, 0.258, 0.049, 0.0155, 0.0253),
    },
    ("substitution-curriculum", "two_substitutions"): {
        "ResNet": (0.5919, 0.5721, 0.0594, 0.0067, 0.244),
        "WReN": (0.4365, 0.4038, 0.0892, 0.0224, 0.1642),
        "CNN": (0.5559, 0.5826, 0.0, 0.0, 0.0),
        "PrediNet": (0.235, 0.1233, 0.1179, 0.232, 0.1453),
        "MLP": (0.2965, 0.2476, 0.0274, 0.0103, 0.0158),
    },
}
"""The same for the curriculum (Table 11), and for the ResNet without ImageNet."""


def macro(experiment: str, test: str) -> dict[str, float]:
    """The mean F1 over the classes of a test in percent, by model; nothing for a test that is not in the paper.

    >>> round(macro("sequences", "length_7")["CNN"], 1)
    55.8
    """
    models = F1.get((experiment, test), {})
    return {model: 100 * sum(scores) / len(scores) for model, scores in models.items()}


def losses() -> dict[str, dict[str, float]]:
    """What each network lacks on each test, in points of mean F1, by experiment/test and network.

    >>> round(losses()["sequences/length_7"]["CNN"], 1)
    44.2
    """
    return {
        f"{experiment}/{test}": {model: 100 - score for model, score in macro(experiment, test).items()}
        for experiment, test in F1
    }
