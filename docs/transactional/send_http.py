# python3 send_http.py ada@example.com 1042
import json, os, sys, time, urllib.error, urllib.request

URL = os.environ.get("POSTHASTE_URL", "http://127.0.0.1:8080")
PAUSES = [1, 5, 30]
TEMPORARY = {409, 429, 502, 503, 504}


def send(mail, idempotency_key):
    """Sends a mail and returns its id. Under one Idempotency-Key it is sent once, however often it is asked for."""
    request = urllib.request.Request(
        f"{URL}/api/v1/emails/send",
        data=json.dumps(mail).encode(),
        headers={
            "X-API-Key": os.environ["POSTHASTE_KEY"],
            "Content-Type": "application/json",
            "Idempotency-Key": idempotency_key,
        },
    )
    for pause in [*PAUSES, None]:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)["data"]["id"]
        except urllib.error.HTTPError as refusal:
            if refusal.code not in TEMPORARY or pause is None:
                raise RuntimeError(refusal.read().decode()) from None
        except OSError:  # the mail may have been accepted: the same key keeps it from being sent twice
            if pause is None:
                raise
        time.sleep(pause)


to, order = sys.argv[1:]
mail = {
    "from_email": "orders@example.org",
    "from_name": "The Shop",
    "to": to,
    "subject": f"Your order {order}",
    "body": "<p>It is on its way.</p>",
}
print(send(mail, f"order-{order}"))
