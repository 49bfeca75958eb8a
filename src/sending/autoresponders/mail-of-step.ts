/** The mail of a step, to render it, and to send a test of it. */
import { findMailingList } from "#audience/mailing-lists/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { StoredMail } from "#sending/mail/mail-content.ts";
import { newMail } from "#sending/mail/new-mail.ts";
import { mailToTest, sendTest, type TestDeps, type TestRequest } from "#sending/mail/test-send.ts";
import { fieldError } from "#sending/mail-fields.ts";
import type { AutoresponderSummary } from "./autoresponder.ts";
import type { AutoresponderDeps } from "./lifecycle.ts";
import { listSteps } from "./steps-store.ts";
import { findAutoresponder } from "./store.ts";

/** @param stepId null for the first step @throws ApiError VALIDATION_ERROR for an unknown step */
export async function mailOfStep(
  db: Queryable,
  workspaceId: WorkspaceId,
  autoresponder: AutoresponderSummary,
  stepId: string | null,
): Promise<StoredMail> {
  const steps = await listSteps(db, workspaceId, autoresponder.id);
  const step = stepId === null ? steps[0] : steps.find(({ id }) => id === stepId.toLowerCase());
  if (step === undefined) throw fieldError("step_id", "is no step of this autoresponder");
  const { subject, html_content, text_content } = step;
  return { ...newMail, ...autoresponder, subject, html_content, text_content };
}

/**
 * Sends a test of a step. Either all messages are accepted or none.
 * @param stepId null for the first step
 * @throws ApiError NOT_FOUND, VALIDATION_ERROR for an unknown step, and what sendTest throws
 */
export async function sendStepTest(
  deps: AutoresponderDeps & TestDeps,
  request: TestRequest,
  id: string,
  stepId: string | null,
) {
  const { db } = deps;
  const { workspaceId } = request.caller;
  const autoresponder = required(await findAutoresponder(db, workspaceId, id), "Autoresponder");
  const mail = await mailOfStep(db, workspaceId, autoresponder, stepId);
  const list = await findMailingList(db, workspaceId, autoresponder.mailing_list_id);
  return sendTest(deps, request, mailToTest(mail, list, request.caller));
}
