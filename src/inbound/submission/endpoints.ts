/** How a program sends by SMTP at this installation, so that a page can show what to fill in. */
import { type Static, Type } from "typebox";
import type { Config } from "#platform/config/config.ts";
import { type Endpoint, endpoint } from "#platform/http/endpoint.ts";
import { nullable } from "#platform/shapes.ts";

const SubmissionPort = Type.Object(
  {
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: "The port." }),
    tls: Type.Enum(["starttls", "implicit"], {
      description:
        "`starttls`: the client asks for TLS with STARTTLS, and cannot log in before. `implicit`: TLS from the first byte.",
    }),
  },
  { $id: "SmtpSubmissionPort" },
);

const SmtpSubmission = Type.Object(
  {
    host: Type.String({
      description: "Host to connect to. A loopback address if the ports listen on this machine only.",
    }),
    ports: Type.Array(SubmissionPort, {
      minItems: 1,
      description: "Its ports, that with implicit TLS last.",
    }),
    username: Type.String({
      description:
        "A user name that works; any other does, too. The password is an API key with `emails:send`.",
    }),
    is_self_signed: Type.Boolean({
      description:
        "Whether the service made its certificate itself: clients that verify certificates refuse it.",
    }),
  },
  { $id: "SmtpSubmission", description: "What an SMTP client needs; docs/submission.md." },
);

const Answer = Type.Object(
  { submission: nullable(SmtpSubmission) },
  { $id: "SmtpSettings", description: "SMTP at this installation. `submission` is null where it is off." },
);

type SubmissionConfig = Pick<
  Config,
  "SUBMISSION_PORT" | "SUBMISSIONS_PORT" | "INBOUND_HOST" | "HOST" | "MAIL_HOSTNAME" | "TLS_CERT_FILE"
>;

export function submissionEndpoints({ config }: { readonly config: SubmissionConfig }): Endpoint[] {
  const submission = submissionOf(config);
  return [
    endpoint({
      id: "getSmtpSettings",
      method: "GET",
      path: "/smtp-settings",
      summary: "Host, ports and user name for sending by SMTP",
      description:
        "For programs that speak SMTP and not HTTP, and for the page that tells people what to fill in. It follows from the settings of the machine that answers, so give machines with other roles the same ones.",
      needs: "authenticated",
      answer: Answer,
      message: "SMTP settings",
      handle: async () => ({ submission }),
    }),
  ];
}

function submissionOf(config: SubmissionConfig): Static<typeof SmtpSubmission> | null {
  const { SUBMISSION_PORT: starttls, SUBMISSIONS_PORT: implicit } = config;
  // Port 0 takes any free one, which only its process knows.
  const ports = [
    ...(starttls ? [{ port: starttls, tls: "starttls" as const }] : []),
    ...(implicit ? [{ port: implicit, tls: "implicit" as const }] : []),
  ];
  if (ports.length === 0) return null;
  const listens = config.INBOUND_HOST ?? config.HOST;
  const isLocal = listens === "localhost" || listens === "::1" || listens.startsWith("127.");
  return {
    host: isLocal ? listens : config.MAIL_HOSTNAME,
    ports,
    username: "api",
    is_self_signed: config.TLS_CERT_FILE === null,
  };
}
