import os

EMAIL_HOST = os.environ.get("SMTP_HOST", "localhost")
EMAIL_PORT = int(os.environ.get("SMTP_PORT", "587"))
EMAIL_USE_TLS = True
EMAIL_HOST_USER = "api"
EMAIL_HOST_PASSWORD = os.environ["POSTHASTE_KEY"]
EMAIL_TIMEOUT = 30
DEFAULT_FROM_EMAIL = "The Shop <orders@example.org>"
