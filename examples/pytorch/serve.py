"""An OpenAI-compatible server on the model of llama.py, whose weights are random: it streams tokens that mean nothing.

Usage: python serve.py [--port N] [--batch N] [--context N] [--layers N] [--device cuda|cpu]
It answers GET /health and /v1/models, and streams POST /v1/completions and /v1/chat/completions. A token of a prompt is a
byte of its text. Requests are batched as inference servers do it: each step gives every running request one token, and a
request that waits is prefilled as soon as a row of the batch is free.
"""

import argparse
import json
import queue
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
from llama import LAYERS, VOCABULARY, angles_of, empty_caches, model

MODEL = "random-llama"
POSITIONS = 65_536  # of the table of angles; they begin again after it

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, default=8000)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--context", type=int, default=1024)
parser.add_argument("--layers", type=int, default=LAYERS)
parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
options = parser.parse_args()
if min(options.batch, options.layers) < 1 or options.context < 2:
    parser.error("expected --batch and --layers of at least 1 and --context of at least 2")


class Request:
    def __init__(self, prompt, most):
        self.prompt, self.most, self.tokens = prompt, most, queue.Queue()


class Batch:
    """All rows share one position, which grows by one with every step; their caches are rings of --context places."""

    def __init__(self):
        device = options.device
        self.llama = model(device, options.layers)
        self.cos, self.sin = angles_of(POSITIONS, device)
        self.caches = empty_caches(options.batch, options.context, device, options.layers)
        self.places = torch.arange(options.context, device=device)
        self.rows = [None] * options.batch
        self.left = [0] * options.batch
        self.token = torch.zeros(options.batch, 1, dtype=torch.long, device=device)
        self.begin = torch.full((options.batch,), options.context, device=device)
        self.now = options.context  # the position of the next token

    def logits(self, tokens, caches, positions, begin):
        """Each row attends to its own positions, from `begin` to that of the token itself."""
        held = positions[-1] - (positions[-1] - self.places) % options.context  # the position that each place holds
        mask = (held <= positions[:, None]) & (held >= begin[:, None, None])
        angles = (self.cos[positions % POSITIONS], self.sin[positions % POSITIONS])
        return self.llama(tokens, angles, caches, positions % options.context, mask[:, None])

    def admit(self, request):
        row, length = self.rows.index(None), len(request.prompt)
        self.begin[row] = self.now - length
        prompt = torch.tensor([request.prompt], device=options.device)
        positions = torch.arange(self.now - length, self.now, device=options.device)
        caches = self.caches[:, :, row : row + 1]
        self.token[row] = self.logits(prompt, caches, positions, self.begin[row : row + 1])[0, -1].argmax()
        self.rows[row], self.left[row] = request, request.most
        self.send(row, int(self.token[row]))

    def step(self):
        positions = torch.tensor([self.now], device=options.device)
        self.token.copy_(self.logits(self.token, self.caches, positions, self.begin)[:, -1:].argmax(-1))
        self.now += 1
        tokens = self.token.flatten().tolist()  # waits for the device
        for row, request in enumerate(self.rows):
            if request is not None:
                self.send(row, tokens[row])

    def send(self, row, token):
        self.rows[row].tokens.put(token)
        self.left[row] -= 1
        if self.left[row] == 0:
            self.rows[row].tokens.put(None)
            self.rows[row] = None

    @torch.inference_mode()
    def run(self, waiting, ready):
        for length in (options.context // 2, 1):  # warms up
            self.admit(Request([1] * length, 1))
            self.step()
        ready.set()
        while True:
            while None in self.rows and not (waiting.empty() and any(self.rows)):
                self.admit(waiting.get())
            self.step()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        known = {"/health": {}, "/v1/models": {"object": "list", "data": [{"id": MODEL, "object": "model"}]}}
        found = self.path in known and ready.is_set()
        self.answer(200 if found else 503 if self.path in known else 404, known.get(self.path, {}))

    def do_POST(self):
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            most = int(body.get("max_tokens") or 128)
            is_chat = self.path == "/v1/chat/completions"
            text = "\n".join(str(each["content"]) for each in body["messages"]) if is_chat else str(body["prompt"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return self.refuse("expected JSON with prompt or messages, and max_tokens as a number")
        prompt = [byte % VOCABULARY for byte in text.encode()] or [0]
        if self.path not in ("/v1/completions", "/v1/chat/completions") or body.get("stream") is not True:
            return self.refuse("expected /v1/completions or /v1/chat/completions with stream: true")
        if most < 1 or len(prompt) + most > options.context:
            return self.refuse(f"expected at most {options.context} bytes of prompt and max_tokens together")
        request = Request(prompt, most)
        waiting.put(request)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for token in iter(request.tokens.get, None):
            piece = {"delta": {"content": f" {token}"}} if is_chat else {"text": f" {token}"}
            self.event({"model": MODEL, "choices": [{"index": 0, **piece, "finish_reason": None}]})
        last = {"delta": {}} if is_chat else {"text": ""}
        usage = {"prompt_tokens": len(prompt), "completion_tokens": most, "total_tokens": len(prompt) + most}
        self.event({"model": MODEL, "choices": [{"index": 0, **last, "finish_reason": "length"}], "usage": usage})
        self.chunk(b"data: [DONE]\n\n")
        self.chunk(b"")

    def event(self, content):
        self.chunk(f"data: {json.dumps(content)}\n\n".encode())

    def chunk(self, content):
        self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))

    def refuse(self, why):
        self.answer(400, {"error": {"message": why}})

    def answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


waiting, ready = queue.Queue(), threading.Event()
server = Server(("127.0.0.1", options.port), Handler)
batch = Batch()


def run():
    try:
        batch.run(waiting, ready)
    finally:
        server.shutdown()  # a server whose device failed must not go on


# Who owns the driver's functions is seen when a program ends by exit(), which SIGTERM alone does not do.
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
threading.Thread(target=run, daemon=True).start()
server.serve_forever()
raise SystemExit("the batch ended")
