# python3 send_smtp.py ada@example.com 1042
import os, smtplib, ssl, sys
from email.message import EmailMessage

to, order = sys.argv[1:]
mail = EmailMessage()
mail["From"] = "The Shop <orders@example.org>"
mail["To"] = to
mail["Subject"] = f"Your order {order}"
mail.set_content("It is on its way.")
mail.add_alternative("<p>It is on its way.</p>", subtype="html")

host, port = os.environ.get("SMTP_HOST", "localhost"), int(os.environ.get("SMTP_PORT", "587"))
try:
    with smtplib.SMTP(host, port, timeout=30) as smtp:
        smtp.starttls(context=ssl.create_default_context())
        smtp.login("api", os.environ["POSTHASTE_KEY"])
        smtp.send_message(mail)
except smtplib.SMTPRecipientsRefused as error:
    code, reason = next(iter(error.recipients.values()))
    print(code, reason.decode(), file=sys.stderr)
    sys.exit(1 if code >= 500 else 75)
except smtplib.SMTPResponseException as error:
    print(error.smtp_code, error.smtp_error.decode(), file=sys.stderr)
    # 5xx: refused for good. 4xx is worth another attempt in some minutes.
    sys.exit(1 if error.smtp_code >= 500 else 75)
except OSError as error:  # no connection, or it broke
    print(error, file=sys.stderr)
    sys.exit(75)
