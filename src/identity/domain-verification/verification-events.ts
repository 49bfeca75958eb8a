/** What a check of a sending domain changed, for those who want to hear of it. */

import type { SendingDomain } from "#identity/sending-domains/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

const flags = [
  "is_verified",
  "spf_verified",
  "dkim_verified",
  "dmarc_verified",
  "return_path_verified",
] as const satisfies (keyof SendingDomain)[];

export type Flag = (typeof flags)[number];

export interface VerificationChange {
  readonly workspaceId: WorkspaceId;
  readonly domainId: string;
  readonly domain: string;
  readonly gained: readonly Flag[];
  readonly lost: readonly Flag[];
  readonly time: Date;
}

/** Told in the transaction that writes the flags; also of checks that changed nothing. */
export type OnVerification = (tx: Queryable, change: VerificationChange) => Promise<void>;

/** From one check to the next. */
export function changeOf(
  workspaceId: WorkspaceId,
  { before, after }: { readonly before: SendingDomain; readonly after: SendingDomain },
  time: Date,
): VerificationChange {
  return {
    workspaceId,
    domainId: after.id,
    domain: after.domain,
    gained: flags.filter((flag) => !before[flag] && after[flag]),
    lost: flags.filter((flag) => before[flag] && !after[flag]),
    time,
  };
}
