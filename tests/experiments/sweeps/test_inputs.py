"""Files that runs read, by what is in them."""

from __future__ import annotations

import pytest

from experiments.scenario.scenario import Scenario
from experiments.studies.study_run import StudyRun
from experiments.sweeps.inputs import digest_of_files


@pytest.mark.parametrize("changed", ["slurm.conf", "included", "qos"])
def test_other_contents_of_files_that_parameters_name_are_other_runs(tmp_path, changed):
    texts = {"slurm.conf": "Include included\n", "included": "", "qos": "Name|Priority\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "scenario.toml").write_text(
        'global = "dll"\nlocal = "slurm"\n[[clusters]]\nname = "C"\nsize = 4\n'
        '[parameters]\nslurm_conf = "slurm.conf"\nslurm_qos = "qos"\n'
    )

    def told():
        scenario = Scenario.load(str(tmp_path / "scenario.toml"))
        return digest_of_files(scenario), StudyRun(scenario, {}, 1).to_dict()

    before = told()
    assert told() == before
    (tmp_path / changed).write_text(texts[changed] + "\n")
    after = told()
    assert before[0] != after[0]
    assert before[1] != after[1]
