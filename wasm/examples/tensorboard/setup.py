"""Adds the built npm package to the files that TensorBoard serves."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent.resolve()
BUILT = HERE.parent.parent / "js" / "dist"


class BuildWithEngine(build_py):
    """Copies the browser files of the npm package into the plugin's static folder."""

    def run(self):
        if not (BUILT / "kinetoscope.wasm").exists():
            raise SystemExit("the npm package is not built: run `cargo xtask package` first")
        super().run()
        target = Path(self.build_lib) / "kinetoscope_tensorboard" / "static" / "kinetoscope"
        shutil.rmtree(target, ignore_errors=True)
        ignored = shutil.ignore_patterns("*.ts", "*.cts", "*.cjs", "*node*", "inline*", "wasm-text*")
        shutil.copytree(BUILT, target, ignore=ignored)


setup(cmdclass={"build_py": BuildWithEngine})
