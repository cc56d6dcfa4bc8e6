"""Writes the layout of an OCI image with one layer (opencontainers/image-spec); Scripts/package calls it.

  layout.py FOLDER LAYER DIFF VERSION ARCHITECTURE

DIFF is the SHA-256 of the layer before it was compressed. The environment has DIALTONE_CREATED and DIALTONE_REVISION.
"""
import hashlib
import json
import os
import pathlib
import sys

folder, layer, diff, version, architecture = sys.argv[1:]
folder = pathlib.Path(folder)
TYPE = "application/vnd.oci.image"


def blob(data, media_type, **others):
    digest = hashlib.sha256(data).hexdigest()
    (folder / "blobs/sha256" / digest).write_bytes(data)
    return {"mediaType": f"{TYPE}.{media_type}", "digest": f"sha256:{digest}", "size": len(data), **others}


def encoded(value):
    return json.dumps(value, separators=(",", ":")).encode()


labels = {
    "org.opencontainers.image.title": "dialtone",
    "org.opencontainers.image.description": "Tells whether the network is reachable, how, and if not, why",
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.created": os.environ["DIALTONE_CREATED"],
    "org.opencontainers.image.revision": os.environ["DIALTONE_REVISION"],
    "org.opencontainers.image.licenses": "Apache-2.0",
    "org.opencontainers.image.vendor": "The Dialtone authors",
}
config = blob(encoded({
    "created": os.environ["DIALTONE_CREATED"], "architecture": architecture, "os": "linux",
    "config": {
        "User": "65534:65534", "Entrypoint": ["/usr/bin/dialtone"], "Labels": labels,
        # The image-spec has no such key; Docker reads it all the same. For Podman it is an option of `podman run`.
        "Healthcheck": {"Test": ["CMD", "/usr/bin/dialtone", "status", "--quiet"],
                        "Interval": 30_000_000_000, "Timeout": 10_000_000_000, "Retries": 3},
    },
    "rootfs": {"type": "layers", "diff_ids": [f"sha256:{diff}"]},
    "history": [{"created": os.environ["DIALTONE_CREATED"], "created_by": "Scripts/package"}],
}), "config.v1+json")
manifest = blob(encoded({
    "schemaVersion": 2, "mediaType": f"{TYPE}.manifest.v1+json", "config": config,
    "layers": [blob(pathlib.Path(layer).read_bytes(), "layer.v1.tar+gzip")], "annotations": labels,
}), "manifest.v1+json", platform={"architecture": architecture, "os": "linux"}, annotations={
    # The name that `podman load` gives it, and the one for containerd.
    "org.opencontainers.image.ref.name": f"localhost/dialtone:{version}",
    "io.containerd.image.name": f"localhost/dialtone:{version}",
})
(folder / "oci-layout").write_bytes(encoded({"imageLayoutVersion": "1.0.0"}))
(folder / "index.json").write_bytes(encoded({
    "schemaVersion": 2, "mediaType": f"{TYPE}.index.v1+json", "manifests": [manifest]}))
