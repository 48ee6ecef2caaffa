"""A bucket on this machine, as much of S3 as Arrow's client speaks: objects, listings, uploads in parts."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


class Handler(BaseHTTPRequestHandler):
    objects: dict[str, bytes]
    parts: dict[str, dict[int, bytes]]
    refused: bool
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None: ...

    def _asked(self) -> tuple[str, dict[str, list[str]]]:
        split = urlsplit(self.path)
        return unquote(split.path).lstrip("/"), parse_qs(split.query, keep_blank_values=True)

    def _say(self, code: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return _unchunked(body) if "aws-chunked" in self.headers.get("Content-Encoding", "") else body

    def do_PUT(self) -> None:
        name, query = self._asked()
        body = self._body()
        if self.refused:
            return self._error(403, "AccessDenied")
        if "uploadId" in query:
            self.parts[query["uploadId"][0]][int(query["partNumber"][0])] = body
        else:
            self.objects |= {} if name.endswith("/") else {name: body}
        self._say(200, ETag='"1"')
        return None

    def do_POST(self) -> None:
        name, query = self._asked()
        self._body()
        if self.refused:
            return self._error(403, "AccessDenied")
        if "uploads" in query:
            self.parts["1" + name] = {}
            text = f"<InitiateMultipartUploadResult><UploadId>1{name}</UploadId></InitiateMultipartUploadResult>"
        else:
            parts = self.parts.pop(query["uploadId"][0])
            self.objects[name] = b"".join(parts[i] for i in sorted(parts))
            text = '<CompleteMultipartUploadResult><ETag>"1"</ETag></CompleteMultipartUploadResult>'
        self._say(200, text.encode(), Content_Type="application/xml")
        return None

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        name, query = self._asked()
        if "list-type" in query:
            return self._list(name, query)
        if name not in self.objects and "/" in name.rstrip("/"):
            return self._error(404, "NoSuchKey")
        content = self.objects.get(name, b"")
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        whole = len(content)
        if found:
            content = content[int(found[1]) : int(found[2]) + 1]
        self._say(
            206 if found else 200,
            content,
            Content_Length=str(len(content)),
            ETag='"1"',
            Last_Modified="Wed, 18 Nov 2026 00:00:00 GMT",
            Content_Range=f"bytes {found[1]}-{found[2]}/{whole}" if found else "",
        )
        return None

    def _list(self, bucket: str, query: dict[str, list[str]]) -> None:
        start = f"{bucket.rstrip('/')}/"
        prefix = query.get("prefix", [""])[0]
        keys = [k.removeprefix(start) for k in sorted(self.objects) if k.startswith(start + prefix)]
        items = "".join(
            f"<Contents><Key>{k}</Key><Size>{len(self.objects[start + k])}</Size>"
            "<LastModified>2026-11-18T00:00:00.000Z</LastModified></Contents>"
            for k in keys
        )
        end = "<IsTruncated>false</IsTruncated>"
        text = f"<ListBucketResult><KeyCount>{len(keys)}</KeyCount>{end}{items}</ListBucketResult>"
        self._say(200, text.encode(), Content_Type="application/xml")

    def _error(self, code: int, name: str) -> None:
        self._say(code, f"<Error><Code>{name}</Code><Message>{name}</Message></Error>".encode())


def _unchunked(body: bytes) -> bytes:
    """What AWS wraps in pieces with checksums."""
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        n = int(size.split(b";")[0] or b"0", 16)
        if not n:
            break
        whole, body = whole + body[:n], body[n + 2 :]
    return whole


@contextmanager
def bucket(refused: bool = False) -> Iterator[tuple[str, dict[str, bytes]]]:
    """The address of an empty bucket, and what is in it."""
    kind: Any = type("Bucket", (Handler,), {"objects": {}, "parts": {}, "refused": refused})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}", kind.objects
    finally:
        server.shutdown()
        server.server_close()
