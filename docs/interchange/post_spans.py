"""Posts spans as `antiphon export --as otlp` writes them to a collector that takes protobuf.

    python otlp-post.py spans.json http://localhost:6006/v1/traces

Needs `opentelemetry-proto`. OTLP's JSON has its ids in hex, protobuf's own JSON in base64; nothing
else is different.
"""

import base64
import json
import sys
import urllib.request

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def main(path, url):
    spans = 0
    for line in open(path, encoding="utf-8"):
        request = json.loads(line)
        for resource in request["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    spans += 1
                    for name in ("traceId", "spanId", "parentSpanId"):
                        if name in span:
                            span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
        message = json_format.ParseDict(request, ExportTraceServiceRequest())
        post = urllib.request.Request(
            url,
            data=message.SerializeToString(),
            headers={"Content-Type": "application/x-protobuf"},
        )
        with urllib.request.urlopen(post) as answer:
            if answer.status != 200:
                sys.exit(f"{url} answers {answer.status}")
    print(f"{spans} spans posted")


main(*sys.argv[1:3])
