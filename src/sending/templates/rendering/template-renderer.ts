/** Renders the templates that mails of POST /emails name. */
import { createWorkspaceLimiter } from "#platform/concurrency.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError, invalid, overloaded } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import {
  createWorkerThread,
  type WorkerThread,
  type WorkerThreadLimits,
} from "#platform/process/worker-thread.ts";
import { readMergeData } from "#sending/templates/merge-data.ts";
import {
  listSendableVersions,
  type SendableVersion,
  unknownVersion,
} from "#sending/templates/versions-store.ts";
import {
  charactersOf,
  type MailsToRender,
  type MailTexts,
  type RenderedTemplate,
} from "./render-templates.ts";

/** It stays for some minutes, because it keeps compiled templates. */
const LIMITS: WorkerThreadLimits = { deadlineMs: 20_000, heapMb: 512, idleMs: 300_000 };
/** One part of a workspace at a time, each of which usually takes a millisecond. */
const BOUNDS = { concurrency: 1, maxWaiting: 500, maxWaitMs: 10_000 };
/** Mails that are rendered before another workspace has its turn. With the largest templates one takes a tenth of a second. */
const MOST_IN_PART = 20;
/** Characters of all mails of one request together, as many as it could hold without templates. */
const MOST_CHARACTERS = 30_000_000;

export interface TemplateOfMail {
  readonly id: string;
  /** Null or omitted: the present version. */
  readonly version?: number | null;
  readonly variables?: Readonly<Record<string, unknown>> | null;
}

export interface MailWithTemplate {
  readonly template: TemplateOfMail;
  /** The value of `email`, unless the variables have one. */
  readonly email: string;
  /** A subject with merge tags in place of that of the template; null for none. */
  readonly subject: string | null;
}

export class TemplateRenderer {
  readonly #db: Database;
  readonly #thread: WorkerThread<MailsToRender, readonly RenderedTemplate[]>;
  readonly #takeTurn = createWorkspaceLimiter(
    BOUNDS,
    "Too many templates of this workspace are being rendered: send fewer requests at a time",
  );

  constructor(db: Database, limits = LIMITS) {
    this.#db = db;
    this.#thread = createWorkerThread(new URL("render-thread.ts", import.meta.url), limits);
  }

  /**
   * The mails in order: their texts, or why there are none. Other workspaces have their turns between parts of the mails.
   * @throws ApiError RATE_LIMIT_EXCEEDED, BAD_REQUEST for templates that take too much memory, 503 for too much time
   */
  async render(
    { workspaceId, timezone }: Pick<Caller, "workspaceId" | "timezone">,
    mails: readonly MailWithTemplate[],
  ): Promise<(MailTexts | ApiError)[]> {
    const rendered: (MailTexts | ApiError)[] = [];
    const present = new Map<string, number>();
    let left = MOST_CHARACTERS;
    for (let start = 0; start < mails.length; start += MOST_IN_PART) {
      const part = mails.slice(start, start + MOST_IN_PART);
      for (const mail of await this.#renderPart({ workspaceId, timezone }, part, present, left)) {
        rendered.push(mail);
        if (!(mail instanceof ApiError)) left -= charactersOf(mail);
      }
    }
    return rendered;
  }

  /** @param present the present versions of templates, the same for all mails of a request; those that are found are added */
  async #renderPart(
    { workspaceId, timezone }: Pick<Caller, "workspaceId" | "timezone">,
    mails: readonly MailWithTemplate[],
    present: Map<string, number>,
    mostCharacters: number,
  ): Promise<(MailTexts | ApiError)[]> {
    const wanted = mails.map(({ template }) => {
      const id = template.id.toLowerCase();
      return { id, version: template.version ?? present.get(id) ?? null };
    });
    const asked = [...new Map(wanted.map((one) => [keyOf(one), one])).values()];
    const found = await listSendableVersions(this.#db, workspaceId, asked);
    const places = new Map<string, number>();
    for (const [place, { template_id: id, version, asked_version }] of found.entries()) {
      places.set(keyOf({ id, version: asked_version }), place);
      if (asked_version === null) present.set(id, version);
    }
    const ready = mails.map(({ template, email, subject }, at) => {
      const place = places.get(keyOf(wanted[at] ?? template));
      return attempt(() => {
        requireMail(template, place === undefined ? undefined : found[place]);
        const variables = readMergeData(template.variables ?? {}, "template.variables");
        return { version: place ?? 0, variables, email, subject };
      });
    });
    const answers = (
      await this.#ask(workspaceId, {
        versions: found,
        mails: ready.flatMap((one) => (one instanceof ApiError ? [] : [one])),
        timezone,
        mostCharacters,
      })
    ).values();
    return ready.map((one) => {
      if (one instanceof ApiError) return one;
      const mail = answers.next().value;
      if (mail === undefined) throw new Error("the thread left out a mail");
      return mail.ok ? mail : invalid(mail.fault);
    });
  }

  #ask(workspaceId: Caller["workspaceId"], question: MailsToRender): Promise<readonly RenderedTemplate[]> {
    if (question.mails.length === 0) return Promise.resolve([]);
    return this.#takeTurn(workspaceId, async () => {
      const answer = await this.#thread.ask(question);
      if (answer.ok) return answer.answer;
      if (answer.reason === "too_slow")
        throw overloaded("The templates could not be rendered in time: try again");
      throw new ApiError(
        "BAD_REQUEST",
        "The templates take too much memory to be rendered: send fewer emails at a time",
      );
    });
  }
}

function keyOf({ id, version }: TemplateOfMail): string {
  return `${id} ${version ?? "present"}`;
}

function requireMail({ version }: TemplateOfMail, found: SendableVersion | undefined): void {
  if (found === undefined) {
    throw invalid({ field: "template.id", message: `template.id ${unknownVersion(version ?? null)}` });
  }
  if (found.kind === "layout") {
    throw invalid({ field: "template.id", message: "template.id is a layout: name a template in it" });
  }
}

function attempt<Result>(work: () => Result): Result | ApiError {
  try {
    return work();
  } catch (fault) {
    if (fault instanceof ApiError) return fault;
    throw fault;
  }
}
