/** Renders mails in a thread, so that a large one delays no other request. */
import type { FindIdentity } from "#delivery/compose/compose-leased-message.ts";
import { domainOf } from "#mail/address.ts";
import { createWorkspaceLimiter } from "#platform/concurrency.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError, invalid, overloaded } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createWorkerThread, type WorkerThreadLimits } from "#platform/process/worker-thread.ts";
import { fieldNames, optionsOf } from "#sending/content/compile-for-workspace.ts";
import type { ChosenPerson } from "#sending/mail/choose-person.ts";
import { findAttachments } from "#sending/mail/presend-store.ts";
import type { LoadedMail } from "./load-mail.ts";
import type { MailToRender, RenderAnswer, RenderedPreview } from "./render-mail.ts";

/** Two megabytes of HTML take about two seconds, and several times that on a busy machine. */
const LIMITS: WorkerThreadLimits = { deadlineMs: 20_000, heapMb: 512 };

/** One mail of a workspace at a time: an editor that asks again while the last mail is rendered waits for it. */
const BOUNDS = { concurrency: 1, maxWaiting: 20, maxWaitMs: 10_000 };

export type RenderAside = (workspaceId: WorkspaceId, mail: MailToRender) => Promise<RenderAnswer>;

/** @throws ApiError RATE_LIMIT_EXCEEDED, BAD_REQUEST for a mail that takes too long */
export function createRenderer(limits = LIMITS): RenderAside {
  const thread = createWorkerThread<MailToRender, RenderAnswer>(
    new URL("render-thread.ts", import.meta.url),
    limits,
  );
  const takeTurn = createWorkspaceLimiter(
    BOUNDS,
    "Too many mails of this workspace are being rendered: send fewer requests at a time",
  );
  return (workspaceId, mail) =>
    takeTurn(workspaceId, async () => {
      const answer = await thread.ask(mail);
      if (answer.ok) return answer.answer;
      if (answer.reason === "too_slow") throw overloaded("The mail could not be rendered in time: try again");
      throw new ApiError("BAD_REQUEST", "The mail takes too much memory to be rendered: shorten its HTML");
    });
}

/** What a mail depends on besides its content. */
export interface RenderDeps {
  readonly db: Database;
  /** PUBLIC_URL, or the address that the service listens on; without a trailing slash. */
  readonly publicUrl: () => string;
  readonly findIdentity: FindIdentity;
  /** The base URL of links in mail. */
  readonly linkBase: (workspaceId: WorkspaceId, urlDomainId: string | null) => Promise<string>;
  /** Null when the service receives no mail. */
  readonly bounceDomain: string | null;
}

/** @throws ApiError VALIDATION_ERROR that names every fault of the content */
export async function renderAs(
  { db, publicUrl, findIdentity, linkBase, bounceDomain }: RenderDeps,
  render: RenderAside,
  { campaign, source, listId, files }: LoadedMail,
  person: ChosenPerson,
  now: Date,
): Promise<RenderedPreview> {
  const { workspace_id: workspaceId } = campaign;
  const showsImages = files.length > 0 && /cid:/i.test(campaign.html_content ?? "");
  const [identity, base, fields, contents] = await Promise.all([
    findIdentity(workspaceId, domainOf(campaign.from_email)),
    linkBase(workspaceId, campaign.url_domain_id),
    fieldNames(db, workspaceId, listId),
    showsImages ? findAttachments(db, workspaceId, campaign.id) : [],
  ]);
  const answer = await render(workspaceId, {
    campaign,
    source,
    options: optionsOf(campaign, fields, campaign.timezone),
    person,
    files: files.map((file, at) => ({ ...file, content: contents[at]?.content ?? "" })),
    now,
    publicUrl: publicUrl(),
    linkBase: base,
    bounceDomain,
    signingKey: identity.signingKey,
    returnPathHost: identity.returnPathHost,
  });
  if (answer.ok) return answer;
  const [first, ...rest] = answer.faults;
  throw invalid(first ?? { field: "html_content", message: "html_content cannot be rendered" }, ...rest);
}
