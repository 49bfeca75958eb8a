/** The topics that a stream of events can have, with the permission of each. */

import { Type } from "typebox";
import { sendingDomains } from "#identity/sending-domains/permission.ts";
import { reports } from "#messages/permission.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import { missingPermissions } from "#platform/http/authenticate.ts";
import { need, permissionOf, type Resource } from "#platform/http/endpoint.ts";
import type { QueryField } from "#platform/http/request/query.ts";
import { isUuid } from "#platform/ids.ts";
import { jobs, visibleJobs } from "#platform/jobs/visible-jobs.ts";
import { shortenedText } from "#platform/shorten.ts";
import { campaigns as campaignsResource } from "#sending/campaigns/campaign.ts";

export const topicKinds = ["campaign", "jobs", "messages", "domains", "notices"] as const;
export type TopicKind = (typeof topicKinds)[number];

export const MOST_TOPICS = 20;

export interface Topic {
  readonly kind: TopicKind;
  /** As in the request: `campaign:<id>` or the kind. */
  readonly name: string;
  /** The id of the campaign; null for the other kinds, which are about the whole workspace. */
  readonly id: string | null;
}

const resourceOf: Readonly<Record<Exclude<TopicKind, "jobs" | "notices">, Resource>> = {
  campaign: campaignsResource,
  messages: reports,
  domains: sendingDomains,
};

/** Which topics a caller may watch. */
export class TopicRights {
  readonly #jobPermissions: readonly string[];

  /** @param jobPermissions the read permissions of the nouns that have jobs */
  constructor(jobPermissions: readonly string[]) {
    this.#jobPermissions = jobPermissions;
  }

  /** The permission that is missing for the topic among these; undefined if they allow it. */
  lackingFor({ kind }: Topic, permissions: readonly string[]): string | undefined {
    if (kind === "jobs") {
      const visible = visibleJobs(permissions);
      const seesAny = visible === null || this.#jobPermissions.some((one) => visible.includes(one));
      return seesAny ? undefined : permissionOf(need(jobs, "read"));
    }
    // As GET /notices: each caller sees the notices about what it may read.
    if (kind === "notices") return undefined;
    return missingPermissions(permissions, [permissionOf(need(resourceOf[kind], "read"))])[0];
  }

  /** @throws ApiError INSUFFICIENT_SCOPE that names the permission of each topic that the caller may not watch */
  require(topics: readonly Topic[], permissions: readonly string[]): void {
    const lacking = topics.flatMap((topic) => {
      const permission = this.lackingFor(topic, permissions);
      return permission === undefined ? [] : [{ topic, permission }];
    });
    if (lacking.length === 0) return;
    const each = lacking.map(({ topic, permission }) => `${topic.name} needs ${permission}`);
    throw new ApiError("INSUFFICIENT_SCOPE", `The topic ${each.join(", ")}`, {
      requiredScopes: [...new Set(lacking.map(({ permission }) => permission))],
    });
  }
}

const hint = `topics is a list of ${topicKinds.filter((kind) => kind !== "campaign").join(", ")} and campaign:<id>, separated by commas`;

/** The parameter `topics`, without repetitions. */
export const topicsField: QueryField<readonly Topic[]> = {
  schema: Type.String({
    maxLength: 1_000,
    description: `What to watch, separated by commas: \`campaign:<id>\`, \`jobs\`, \`messages\`, \`domains\`, \`notices\`. Required; at most ${MOST_TOPICS}.`,
    examples: ["campaign:019a0000-0000-7000-8000-000000000000,jobs"],
  }),
  read(text, name) {
    const names = (text ?? "")
      .split(",")
      .map((one) => one.trim())
      .filter((one) => one !== "");
    if (names.length === 0) throw invalid({ field: name, message: `${hint}: give at least one` });
    if (names.length > MOST_TOPICS) {
      throw invalid({ field: name, message: `${name} can have at most ${MOST_TOPICS} topics` });
    }
    const topics = names.map((one) => topicOf(one, name));
    return [...new Map(topics.map((topic) => [topic.name, topic])).values()];
  },
};

/** @throws ApiError VALIDATION_ERROR */
function topicOf(text: string, field: string): Topic {
  const [kind = "", id, ...more] = text.toLowerCase().split(":");
  const known = topicKinds.find((one) => one === kind);
  if (known === "campaign" && id !== undefined && isUuid(id) && more.length === 0) {
    return { kind: known, name: `${known}:${id}`, id };
  }
  if (known !== undefined && known !== "campaign" && id === undefined) {
    return { kind: known, name: known, id: null };
  }
  throw invalid({ field, message: `"${shortenedText(text, 60)}" is not a topic: ${hint}` });
}
