/** What a live look at one DNS record comes to: a value, whatever happens. */
import { type Static, Type } from "typebox";

const checkStatuses = ["verified", "missing", "mismatch", "error"] as const;

export const DnsCheck = Type.Object(
  {
    status: Type.Enum([...checkStatuses], {
      description: "`error`: the DNS could not be asked, which settles nothing.",
    }),
    host: Type.String({ description: "The name that was looked up." }),
    type: Type.Enum(["TXT", "CNAME"]),
    expected: Type.String({ description: "The value to publish." }),
    found: Type.Array(Type.String(), { description: "What is published." }),
    message: Type.String({ description: "What was found out, and what to do." }),
  },
  { $id: "DnsCheck" },
);

export type DnsCheck = Static<typeof DnsCheck>;
export type CheckStatus = DnsCheck["status"];
