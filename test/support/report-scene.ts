/** A workspace for tests of reports, its API, and messages with given outcomes. */

import { type Outcome, unclassified } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import type { NewMessage } from "#messages/store.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { createReactions } from "#processes/reactions.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { type ApiAnswer, apiCaller, type CallApi } from "./api-caller.ts";
import { draft } from "./drafts.ts";
import type { TestService } from "./service.ts";

export interface Told extends Partial<Outcome> {
  readonly to?: string;
  /** Fields of the message to replace. */
  readonly message?: Partial<NewMessage>;
  /** Time of acceptance. `time` is the time of the outcome. Default of both: now. */
  readonly acceptedAt?: Date;
}

export interface ReportScene {
  readonly workspaceId: WorkspaceId;
  readonly call: CallApi;
  /** Sends a GET request, which must succeed, and returns `data`. */
  readonly get: (path: string) => Promise<ApiAnswer["body"]>;
  /** Accepts a message and records its outcome, unless it stays queued. @returns its id */
  readonly send: (status: Outcome["status"] | "queued", told?: Told) => Promise<string>;
  /** Records a later outcome, such as a bounce after delivery. */
  readonly tell: (
    messageId: string,
    status: Outcome["status"],
    time: Date,
    change?: Partial<Outcome>,
  ) => Promise<unknown>;
}

export async function reportScene(service: TestService): Promise<ReportScene> {
  const { database: db, clock } = service;
  const { workspaceId, key } = await service.newWorkspace();
  const call = apiCaller(() => service.url, key);
  const tell = (messageId: string, status: Outcome["status"], time: Date, change: Partial<Outcome> = {}) => {
    const outcome: Outcome = {
      workspaceId,
      messageId,
      status,
      time,
      attempts: 1,
      nextAttemptAt: status === "deferred" ? new Date(time.getTime() + 300_000) : null,
      detail: "said so",
      mxHost: null,
      code: null,
      enhancedCode: null,
      isAddressFault: false,
      ...unclassified,
      ...change,
    };
    return db.transaction((tx) => recordOutcomes(tx, [outcome], createReactions(clock)));
  };
  return {
    workspaceId,
    call,
    tell,
    async get(path) {
      const { status, body } = await call("GET", path);
      if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${body.error}`);
      return body.data;
    },
    async send(status, told = {}) {
      const { to = `${newId()}@a.test`, message = {}, acceptedAt = clock.now(), time, ...change } = told;
      const accepted = draft(workspaceId, to, { createdAt: acceptedAt, ...message });
      await insertDrafts(db, [accepted]);
      const { id } = accepted.message;
      if (status === "queued") return id;
      if (status === "complained") await tell(id, "delivered", acceptedAt);
      await tell(id, status, time ?? clock.now(), change);
      return id;
    },
  };
}
