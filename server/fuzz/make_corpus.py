"""Write the golden files as fuzzing seeds: make_corpus.py GOLDEN_FOLDER CORPUS_FOLDER."""

import json
import sys
from pathlib import Path


def write(corpus: Path, target: str, name: str, text: str) -> None:
    folder = corpus / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def main() -> None:
    golden, corpus = Path(sys.argv[1]), Path(sys.argv[2])
    for kind in ("valid", "invalid"):
        for file in sorted((golden / kind).glob("*.json")):
            golden_file = json.loads(file.read_text(encoding="utf-8"))
            message = golden_file.get("message")
            text = golden_file["text"] if message is None else json.dumps(message)
            write(corpus, f"{golden_file['direction']}_message", f"{kind}_{file.stem}", text)
        for file in sorted((golden / "study_spec" / kind).glob("*.json")):
            golden_file = json.loads(file.read_text(encoding="utf-8"))
            spec = golden_file.get("spec")
            text = golden_file["text"] if spec is None else json.dumps(spec)
            write(corpus, "study_spec", f"{kind}_{file.stem}", text)


if __name__ == "__main__":
    main()
