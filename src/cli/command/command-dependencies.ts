import type { Endpoint } from "#platform/http/endpoint.ts";
import type { Role } from "#processes/roles.ts";
import type { Output } from "./output.ts";

/** Parts of the process that the commands use. */
export interface CliOptions {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Standard input, read by commands whose options ask for it. */
  readonly stdin?: AsyncIterable<string | Uint8Array>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** All endpoints of the API, from which the known permissions follow. */
  readonly endpoints: () => readonly Endpoint[];
  /** Runs the service, and resolves when it has stopped. */
  readonly serve: (roles: readonly Role[]) => Promise<void>;
}
