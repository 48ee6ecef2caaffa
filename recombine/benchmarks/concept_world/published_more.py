"""What the ConceptWorld paper reports beside `published`: the curriculum (Table 11), the ResNet without ImageNet."""

F1: dict[tuple[str, str], dict[str, tuple[float, ...]]] = {
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
