/** What a program that sends by SMTP needs: nothing where the installation has no port for it. */
import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { usePlace } from "../../api/session.tsx";
import { Copyable } from "../../parts/copyable.tsx";
import { Fact, Facts } from "../../parts/facts.tsx";
import { Failure } from "../../parts/failure.tsx";

interface Props {
  /** What the password is. */
  readonly password: ReactNode;
}

export function SmtpSettings({ password }: Props) {
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["smtp-settings", workspace.id],
    queryFn: ({ signal }) => api.getSmtpSettings({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const submission = data?.submission;
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!submission) return null;
  const { host, ports, username, is_self_signed } = submission;
  return (
    <section aria-label="Send by SMTP">
      <h2 className="mb-2 text-[15px] font-semibold">Send by SMTP</h2>
      <Facts>
        <Fact name="Host">
          <Copyable text={host} label="host" />
        </Fact>
        <Fact name={ports.length === 1 ? "Port" : "Ports"}>
          {ports.map((port) => (
            <span key={port.port} className="block">
              {portText(port)}
            </span>
          ))}
        </Fact>
        <Fact name="User name">
          <Copyable text={username} label="user name" />
        </Fact>
        <Fact name="Password">
          <span className="whitespace-normal">{password}</span>
        </Fact>
      </Facts>
      {is_self_signed && (
        <p className="mt-2 text-small text-muted">
          The service made its certificate itself: a client that verifies certificates refuses it.
        </p>
      )}
    </section>
  );
}

const tlsWords: Readonly<Record<Schema<"SmtpSubmissionPort">["tls"], string>> = {
  starttls: "with STARTTLS",
  implicit: "with TLS from the start",
};

function portText({ port, tls }: Schema<"SmtpSubmissionPort">): string {
  return `${port} ${tlsWords[tls]}`;
}
