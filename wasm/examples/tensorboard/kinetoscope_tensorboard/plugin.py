"""Serves the traces of a logdir and the page that reads them, without parsing the traces."""

import json
import mimetypes
from pathlib import Path

from tensorboard.backend import http_util
from tensorboard.plugins import base_plugin
from werkzeug import exceptions, wrappers
from werkzeug.wsgi import wrap_file

STATIC = Path(__file__).parent / "static"
ENDINGS = (".pt.trace.json", ".pt.trace.json.gz", ".pt.trace.json.zst")
TYPES = {".js": "text/javascript", ".wasm": "application/wasm", ".css": "text/css"}


class KinetoscopePlugin(base_plugin.TBPlugin):
    """The plugin: `data/plugin/kinetoscope/…`."""

    plugin_name = "kinetoscope"

    def __init__(self, context):
        self._logdir = Path(context.logdir).resolve() if context.logdir else None

    def get_plugin_apps(self):
        return {
            "/static/*": self._serve_static,
            "/traces": self._serve_traces,
            "/trace": self._serve_trace,
        }

    def is_active(self):
        return next(self._traces(), None) is not None

    def frontend_metadata(self):
        return base_plugin.FrontendMetadata(es_module_path="/static/index.js", tab_name="Kinetoscope")

    def _traces(self):
        if self._logdir is None:
            return
        for path in self._logdir.rglob("*"):
            if path.name.endswith(ENDINGS) and path.is_file():
                yield path

    @wrappers.Request.application
    def _serve_traces(self, request):
        names = sorted(str(path.relative_to(self._logdir)) for path in self._traces())
        return http_util.Respond(request, json.dumps(names), "application/json")

    @wrappers.Request.application
    def _serve_trace(self, request):
        wanted = request.args.get("name", "")
        path = next((p for p in self._traces() if str(p.relative_to(self._logdir)) == wanted), None)
        if path is None:
            raise exceptions.NotFound(f"no trace {wanted} in the logdir")
        # Served as binary data, so that neither server nor browser decompresses the file.
        return _file(request, path, "application/octet-stream")

    @wrappers.Request.application
    def _serve_static(self, request):
        inside = request.path.split("/static/", 1)[1]
        path = (STATIC / inside).resolve()
        if not path.is_relative_to(STATIC) or not path.is_file():
            raise exceptions.NotFound()
        kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return _file(request, path, kind)


def _file(request, path, kind):
    response = wrappers.Response(wrap_file(request.environ, path.open("rb")), content_type=kind, direct_passthrough=True)
    response.content_length = path.stat().st_size
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
