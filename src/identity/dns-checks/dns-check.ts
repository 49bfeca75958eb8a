/** The result of checking one DNS record: a value, never an exception. */
import { type Static, Type } from "typebox";
import { nullable } from "#platform/shapes.ts";

const checkStatuses = ["verified", "missing", "mismatch", "error"] as const;

export const DnsCheck = Type.Object(
  {
    status: Type.Enum([...checkStatuses], {
      description: "`error`: the DNS look-up failed, so the result is unknown.",
    }),
    host: Type.String({ description: "The name that was looked up." }),
    type: Type.Enum(["TXT", "CNAME", "MX"], { description: "Type of the record." }),
    expected: Type.String({ description: "The value to publish." }),
    found: Type.Array(Type.String(), { description: "What is published." }),
    found_host: nullable(
      Type.String({
        description:
          "Where `found` is published, if that is not `host` but a wrong name: DNS panels append the domain to the name that is entered. Null otherwise.",
      }),
    ),
    message: Type.String({ description: "The result, and what to do." }),
  },
  { $id: "DnsCheck" },
);

export type DnsCheck = Static<typeof DnsCheck>;
export type CheckStatus = DnsCheck["status"];
