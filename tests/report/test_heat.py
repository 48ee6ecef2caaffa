"""Heat maps: what is drawn is seen."""

import re

from recombine.report.heat import Heat, heat_map


def test_labels_that_are_longer_than_the_map_stay_within_it() -> None:
    names = ("a", "7 small red rubber cylinder")
    drawn = heat_map(Heat("looks", ("step 1",), names, ((0.5, 0.5),)))
    wide = float(re.search(r'viewBox="0 0 ([\d.]+)', drawn)[1])
    begins = [float(x) for x in re.findall(r'<text x="([\d.]+)"[^>]*rotate', drawn)]
    assert len(begins) == 2 and begins[1] + 0.643 * 7.2 * len(names[1]) < wide
