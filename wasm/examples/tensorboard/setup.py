"""Takes the built npm package along as files that TensorBoard serves."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent.resolve()
BUILT = HERE.parent.parent / "js" / "dist"


class BuildWithEngine(build_py):
    """Copies what a browser needs of the npm package beside the plugin's own files."""

    def run(self):
        if not (BUILT / "kinetoscope.wasm").exists():
            raise SystemExit("the npm package is not built: run `cargo xtask package` first")
        super().run()
        target = Path(self.build_lib) / "kinetoscope_tensorboard" / "static" / "kinetoscope"
        shutil.rmtree(target, ignore_errors=True)
        ignored = shutil.ignore_patterns("*.ts", "*.cts", "*.cjs", "*node*", "inline*", "wasm-text*")
        shutil.copytree(BUILT, target, ignore=ignored)


setup(cmdclass={"build_py": BuildWithEngine})
