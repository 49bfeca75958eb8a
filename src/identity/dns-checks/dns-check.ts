/** The result of checking one DNS record: a value, never an exception. */
import { type Static, Type } from "typebox";
import { nullable } from "#platform/shapes.ts";

const diagnoses = [
  "doubled_domain",
  "wrong_host",
  "missing_dot",
  "proxied",
  "address_record",
  "split_text",
  "cut_text",
  "several_records",
  "quoted_text",
  "too_many_lookups",
] as const;
/** A mistake that explains why a record is missing or differs. */
export type Diagnosis = (typeof diagnoses)[number];

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
    diagnosis: nullable(
      Type.Enum([...diagnoses], {
        description:
          "The mistake, if it is a usual one. `doubled_domain`: the panel has appended the domain to a name that had it; `wrong_host`: the record is at another wrong name; `missing_dot`: the panel has appended the domain to the target of the CNAME; `proxied`: the DNS provider answers with its own addresses in the place of the CNAME; `address_record`: an address record is in the place of the CNAME; `split_text`: the value is in several records; `cut_text`: its end is missing; `several_records`: there may be one only; `quoted_text`: quotation marks are part of it; `too_many_lookups`: receivers stop to evaluate the SPF record. Null if the record is right, or the mistake is another one.",
      }),
    ),
  },
  { $id: "DnsCheck" },
);

export type DnsCheck = Static<typeof DnsCheck>;
export type CheckStatus = DnsCheck["status"];
