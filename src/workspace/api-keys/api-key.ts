/** The shapes of an API key in answers. */

import { type Static, Type } from "typebox";
import type { Resource } from "#platform/http/endpoint.ts";
import { CreatedAt, described, Id, nullable, Timestamp } from "#platform/shapes.ts";

export const apiKeysResource: Resource = { name: "api_keys", label: "API keys", group: "Account" };

export const ApiKey = Type.Object(
  {
    id: Id,
    name: Type.String({ description: "Name for display." }),
    permissions: Type.Array(Type.String(), { description: "Values from the permission catalogue." }),
    key_prefix: Type.String({ description: "First characters of the secret, to tell keys apart." }),
    is_active: Type.Boolean({ description: "false after deactivation." }),
    last_used_at: nullable(
      described(
        Timestamp,
        "Time of the last request with the key in UTC, at most a minute late; null if it was never used.",
      ),
    ),
    expires_at: nullable(
      described(Timestamp, "Time in UTC from which the key no longer works; null if it does not expire."),
    ),
    created_at: CreatedAt,
  },
  { $id: "ApiKey" },
);
export type ApiKey = Static<typeof ApiKey>;

/** The answer to create and regenerate, the only ones with the secret. */
export const IssuedKey = Type.Object(
  { ...ApiKey.properties, key: Type.String({ description: "The secret; never shown again." }) },
  { $id: "IssuedApiKey" },
);
export type IssuedKey = Static<typeof IssuedKey>;

/** What the caller chooses when a key is created. */
export type KeySettings = Pick<ApiKey, "name" | "permissions" | "expires_at">;
