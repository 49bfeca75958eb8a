"""Uses the generated Python client as a program would: argument 1 is its folder, POSTHASTE_URL and _KEY the service."""
import json
import os
import sys

sys.path.insert(0, sys.argv[1])
import posthaste

configuration = posthaste.Configuration(
    host=os.environ["POSTHASTE_URL"] + "/api/v1",
    api_key={"apiKey": os.environ["POSTHASTE_KEY"]},
)
client = posthaste.ApiClient(configuration)

keys = posthaste.APIKeysApi(client).list_api_keys().data
emails = posthaste.TransactionalEmailApi(client)
queued = emails.send_email(
    posthaste.Email(to="ada@example.com", subject="From Python", body="Hello"), idempotency_key="python-1"
).data
message = posthaste.ReportsAndMessageLogApi(client).get_message(queued.id).data
lists = posthaste.MailingListsApi(client)
created = lists.create_mailing_list(posthaste.NewMailingList(name="Readers of the Python client")).data
job = posthaste.SubscribersApi(client).import_subscribers(created.id, sys.argv[2]).data
try:
    emails.send_email(posthaste.Email(to="nobody", subject="Hello", body="Hello"))
    failure = None
except posthaste.ApiException as error:
    failure = {"status": error.status, **json.loads(error.body)}

print(json.dumps({
    "keys": [key.name for key in keys],
    "status": queued.status,
    "subject": message.subject,
    "job": job.status,
    "failure": [failure["status"], failure["code"], failure["details"][0]["field"]],
}))
