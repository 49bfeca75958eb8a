import type { ReportRefusal } from "#mail/reports/read-reports.ts";

/** Why a report, or a record of one, is refused: a code of the API. */
export type ReportRefusalReason =
  | ReportRefusal
  | "another_domain"
  | "future"
  | "too_many_reports"
  | "reading_too_slow"
  | "reading_too_large";

/** The reasons as sentences for the owner of the domain. */
export const refusalSentences: Readonly<Record<ReportRefusalReason, string>> = {
  empty: "The file is empty.",
  no_report: "The file contains no DMARC or TLS report.",
  corrupt: "The archive is damaged.",
  too_large:
    "The files of the mail are larger than 16 MB together, unpacked, or the report is larger than any report.",
  too_many_entries: "The archive contains more than 100 files.",
  bad_entry_name: "The archive contains a file whose path leads out of the archive.",
  nested_archive: "The archive contains another archive.",
  encrypted: "The archive is encrypted.",
  document_type: "The XML declares a document type or entities, which are not allowed in reports.",
  malformed: "The report is neither XML nor JSON in the form of a report.",
  too_many_records: "The reports of the mail contain more than 10,000 records.",
  too_many_in_mail:
    "The file contains more than 20 reports, or the mail more than 50 parts; the others are not read.",
  missing_field: "The report does not say which domain it is about.",
  bad_date: "The begin or end of the report's time range cannot be read.",
  bad_count: "A count is missing, negative, a fraction or too large.",
  bad_source_ip: "The address of the sending server is missing or is not an IP address.",
  cut_off: "The report ends in the middle of a record.",
  another_domain: "The report is about another domain.",
  future: "The report is about the future.",
  too_many_reports: "The domain has had 500 reports or 20,000 records within a day.",
  reading_too_slow: "Reading the mail took longer than 60 seconds.",
  reading_too_large: "Reading the mail took too much memory.",
};
