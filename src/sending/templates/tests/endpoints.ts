/** POST /templates/{id}/test: a template as a mail to a few addresses. */
import { Type } from "typebox";
import { ApiError } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { omittable } from "#platform/shapes.ts";
import { TestSent, testEmails } from "#sending/mail/test-order.ts";
import { sendTest, type TestDeps } from "#sending/mail/test-send.ts";
import { readMailAddress } from "#sending/mail-fields.ts";
import { loadMail } from "#sending/preview/load-mail.ts";
import { versionNumber } from "#sending/templates/content-fields.ts";
import { requireTemplate } from "#sending/templates/save-template.ts";
import type { ContentDeps } from "#sending/templates/take-content.ts";
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
          "On a verified sending domain, or a verified sender. Default: the workspace's default sender.",
      }),
    ),
  },
  { $id: "TemplateTestOrder" },
);

/** @param deps of the API's process */
export function templateTestEndpoints(
  deps: Parameters<typeof sendTest>[0] & TestDeps & Pick<ContentDeps, "compiler">,
): Endpoint[] {
  const { db } = deps;
  return [
    endpoint({
      id: "testTemplate",
      method: "POST",
      path: "/templates/{id}/test",
      summary: "Send a template as a test mail to a few addresses",
      description:
        "The mail is rendered as by `POST /render`, with the test data of the template, and marked as a test. A subscriber gets their own values. It counts in the plan's allowance.",
      needs: need(templates, "send"),
      body: TemplateTestOrder,
      answer: TestSent,
      message: "Test sent",
      errors: ["BAD_REQUEST", "EMAIL_NOT_VERIFIED", "PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE"],
      async handle({ caller, params: { id }, body, requestId }) {
        await requireTemplate(db, caller.workspaceId, id, "content");
        const { emails, version = null, test_data = null, from_email } = body;
        const from = readMailAddress("from_email", from_email) ?? caller.defaultSender;
        if (from === null) {
          throw new ApiError("BAD_REQUEST", "from_email is required: the workspace has no default sender");
        }
        const order = { template_id: id, template_version: version, test_data, from_email: from };
        const { campaign, addsFooter, data } = await loadMail(deps, caller, order);
        const mail = { draft: campaign, files: [], listId: null, addsFooter, data };
        return sendTest(deps, { caller, requestId, emails }, mail);
      },
    }),
  ];
}
