/** One DMARC report over HTTP: what it says, its records, and the document as it came. */
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { type Static, Type } from "typebox";
import { sendingDomains } from "#identity/sending-domains/permission.ts";
import { refusalSentences } from "#inbound/reports/report-refusal-sentences.ts";
import { withOrganisation } from "#inbound/sources/organisation.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError, required } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { pageFields } from "#platform/http/request/query.ts";
import { FileAnswer, fileShape } from "#platform/http/response/file-answer.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/pagination.ts";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { findDmarcReport, findDmarcXml, listDmarcRecords } from "./store.ts";

const unpack = promisify(gunzip);

const text = (description: string) => nullable(Type.String({ description }));

const DmarcRecord = Type.Object(
  {
    source_ip: Type.String({ description: "Address that sent the messages." }),
    host: text(
      "Host name of the address, which leads back to it; null if it has none, or is not looked up yet.",
    ),
    organisation: text("Who sends from there: a well-known sender, or the registered domain of the host."),
    messages: Type.Integer({ description: "Messages of the record." }),
    disposition: text("What the policy did: `none`, `quarantine`, `reject` or `pass`."),
    dkim: text("Aligned result of DKIM: `pass` or `fail`."),
    spf: text("Aligned result of SPF: `pass` or `fail`."),
    header_from: Type.String({ description: "Domain in From." }),
    envelope_from: text("Domain of the envelope sender; null if the report has none."),
  },
  {
    $id: "DmarcRecord",
    description: "Messages with the same source and results.",
  },
);

const WholeDmarcReport = Type.Object(
  {
    id: described(Id, "Id of the report."),
    org_name: Type.String({ description: "The reporting organisation." }),
    email: text("Its address for questions; null if the report has none."),
    report_id: Type.String({ description: "The reporter's id of the report." }),
    policy_domain: Type.String({ description: "The domain whose DMARC record was found." }),
    policy: Type.Object(
      {
        p: text("For the domain: `none`, `quarantine` or `reject`."),
        sp: text("For its subdomains."),
        np: text("For subdomains that do not exist."),
        adkim: text("Alignment of DKIM: `r` or `s`."),
        aspf: text("Alignment of SPF: `r` or `s`."),
        pct: nullable(Type.Number({ description: "Percentage of mail that the policy applied to." })),
        fo: text("When reports of single failures are wanted."),
        testing: text("`y` if the policy is to be tested only."),
      },
      {
        description:
          "The DMARC record as the receiver found it; null for tags that the report does not have.",
      },
    ),
    begins_at: described(Timestamp, "Start of the time that it covers, in UTC."),
    ends_at: described(Timestamp, "End of the time that it covers, in UTC."),
    messages: Type.Integer({ description: "Messages in the report." }),
    records: Type.Integer({ description: "Its records, as `listDmarcRecords` has them." }),
    unread: Type.Array(
      Type.Object({
        reason: Type.String({ description: "As in `listDmarcReports`." }),
        message: Type.String({ description: "Why they could not be read, for people." }),
        records: Type.Integer({ description: "Number of records that it concerns." }),
      }),
      { description: "Records that could not be read and are not counted, by reason." },
    ),
    has_xml: Type.Boolean({ description: "Whether `downloadDmarcReport` has the document." }),
    received_at: described(Timestamp, "When the report arrived, in UTC."),
  },
  { $id: "WholeDmarcReport" },
);

interface ReportParams {
  readonly id: string;
  readonly report_id: string;
}

export function dmarcReportEndpoints({ db }: { readonly db: Database }): Endpoint[] {
  const needs = need(sendingDomains, "read");
  const requireReport = async ({ workspaceId }: Caller, { id, report_id }: ReportParams) => {
    const found = await findDmarcReport(db, { workspaceId, sendingDomainId: id, reportId: report_id });
    return required(found, "DMARC report");
  };
  return [
    endpoint({
      id: "getDmarcReport",
      method: "GET",
      path: "/sending-domains/{id}/dmarc-reports/{report_id}",
      summary: "One DMARC report",
      description: "`listDmarcReports` has the ids of reports, and figures over all of them.",
      needs,
      answer: WholeDmarcReport,
      message: "DMARC report",
      async handle({ caller, params }) {
        const { unread, policy, ...report } = await requireReport(caller, params);
        return {
          ...report,
          policy: policyOf(policy),
          unread: unread.map((one) => ({ ...one, message: refusalSentences[one.reason] })),
        };
      },
    }),
    endpoint({
      id: "listDmarcRecords",
      method: "GET",
      path: "/sending-domains/{id}/dmarc-reports/{report_id}/records",
      summary: "The records of a DMARC report: who sent how much, with which results",
      description: "The records in the order of the report, with the host behind each address.",
      needs,
      query: pageFields(),
      answer: pageOf("records", DmarcRecord),
      message: "Records of the DMARC report",
      async handle({ caller, params, query }) {
        const { records: total } = await requireReport(caller, params);
        const page = { limit: query.limit, offset: offsetOf(query) };
        const rows = await listDmarcRecords(db, caller.workspaceId, params.report_id, page);
        return { records: rows.map(withOrganisation), pagination: pagination(query, total) };
      },
    }),
    endpoint({
      id: "downloadDmarcReport",
      method: "GET",
      path: "/sending-domains/{id}/dmarc-reports/{report_id}/xml",
      summary: "Download a DMARC report as it came, in XML",
      description:
        "The document is kept with the report, except for large ones (more than 256 KiB as gzip, or 4 MiB of a domain in a day), for files with several reports, and for reports about the organisational domain, which also have records of other domains: 404.",
      needs,
      answer: fileShape("application/xml", "The document, in UTF-8."),
      async handle({ caller: { workspaceId }, params }) {
        const place = { workspaceId, sendingDomainId: params.id, reportId: params.report_id };
        const xml = await findDmarcXml(db, place);
        if (xml === null) throw new ApiError("NOT_FOUND", "The document of this report was not kept");
        const content = await unpack(required(xml, "DMARC report"));
        return new FileAnswer(`dmarc-report-${params.report_id}.xml`, Readable.from([content]));
      },
    }),
  ];
}

/** The tags that the answer has. Older rows may lack some. */
function policyOf(stored: Readonly<Record<string, string | number | null>>) {
  const tag = (name: string) => {
    const value = stored[name] ?? null;
    return value === null ? null : String(value);
  };
  const { pct } = stored;
  return {
    p: tag("p"),
    sp: tag("sp"),
    np: tag("np"),
    adkim: tag("adkim"),
    aspf: tag("aspf"),
    pct: typeof pct === "number" ? pct : null,
    fo: tag("fo"),
    testing: tag("testing"),
  } satisfies Static<typeof WholeDmarcReport>["policy"];
}
