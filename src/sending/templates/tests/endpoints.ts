/** POST /templates/{id}/test: a template as a mail to a few addresses. */
import { Type } from "typebox";
import { requirePermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { omittable } from "#platform/shapes.ts";
import { platformSenderOf, readSender } from "#sending/emails/read-mail-fields.ts";
import { TestSent, testEmails } from "#sending/mail/test-order.ts";
import { readTestRecipients, sendTest, type TestDeps } from "#sending/mail/test-send.ts";
import { loadMail } from "#sending/preview/load-mail.ts";
import { versionNumber } from "#sending/templates/content-fields.ts";
import { requireTemplate } from "#sending/templates/save-template.ts";
import { type ContentDeps, READ_TEMPLATES } from "#sending/templates/take-content.ts";
import { templates } from "#sending/templates/template.ts";

const TemplateTestOrder = Type.Object(
  {
    emails: testEmails,
    version: omittable(versionNumber("The version; omitted: the present one.")),
    test_data: omittable(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "Values of merge tags, in place of the test data of the template.",
      }),
    ),
    from_email: omittable(
      Type.String({
        description:
          "On a verified sending domain, a verified sender, or the sender of the installation. Default: the workspace's default sender, otherwise that of the installation.",
      }),
    ),
  },
  { $id: "TemplateTestOrder" },
);

/** @param deps of the API's process */
export function templateTestEndpoints(
  deps: Parameters<typeof sendTest>[0] &
    TestDeps &
    Pick<ContentDeps, "compiler"> & {
      /** The sender of the installation; null for none. */
      readonly platformFrom: string | null;
    },
): Endpoint[] {
  const { db } = deps;
  const platform = platformSenderOf(deps.platformFrom);
  return [
    endpoint({
      id: "testTemplate",
      method: "POST",
      path: "/templates/{id}/test",
      summary: "Send a template as a test mail to a few addresses",
      description:
        "The mail is rendered as by `POST /render`, with the test data of the template, and marked as a test. A subscriber gets their own values. It counts in the plan's allowance. The key also needs `templates:read`.",
      needs: need(templates, "send"),
      body: TemplateTestOrder,
      answer: TestSent,
      message: "Test sent",
      errors: ["BAD_REQUEST", "EMAIL_NOT_VERIFIED", "PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE"],
      async handle({ caller, params: { id }, body, requestId }) {
        requirePermissions(caller, [READ_TEMPLATES]);
        const { emails, version = null, test_data = null } = body;
        const recipients = readTestRecipients(emails);
        const { fromEmail, sender } = readSender(body.from_email, platform, caller);
        await requireTemplate(db, caller.workspaceId, id, "content");
        const order = { template_id: id, template_version: version, test_data };
        const { campaign, addsFooter, data } = await loadMail(deps, caller, order);
        const draft = { ...campaign, from_email: fromEmail };
        const mail = { draft, files: [], listId: null, addsFooter, data, isOfPlatform: sender === null };
        return sendTest(deps, { caller, requestId, recipients }, mail);
      },
    }),
  ];
}
