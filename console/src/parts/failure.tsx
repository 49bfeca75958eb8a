/** A failed request: the API's own sentence, the id of the request for support, and what can be done. */
import { PosthasteError } from "@posthaste/client";
import { sentenceAtField } from "../api/act.ts";
import { Button } from "./button.tsx";
import { Copyable } from "./copyable.tsx";

interface Props {
  readonly error: unknown;
  readonly onRetry?: () => unknown;
}

export function Failure({ error, onRetry }: Props) {
  const known = error instanceof PosthasteError ? error : undefined;
  return (
    <div role="alert" className="border-l-2 border-bad px-4 py-3">
      <p className="font-medium">{sentenceOf(error)}</p>
      {known?.details
        .filter(({ message }) => !known.message.includes(message))
        .map((detail) => (
          <p key={detail.field} className="text-muted">
            <span className="inline-block first-letter:uppercase">{detail.field.replaceAll("_", " ")}</span>:{" "}
            {sentenceAtField(detail)}
          </p>
        ))}
      {known?.requestId && (
        <p className="mt-1 text-small text-muted">
          Request <Copyable text={known.requestId} label="request id" />
        </p>
      )}
      {onRetry && (
        <Button className="mt-2" onPress={() => void onRetry()}>
          Try again
        </Button>
      )}
    </div>
  );
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof PosthasteError))
    return "This page has a fault. Reload it; if it comes back, report it.";
  if (error.code === "CONNECTION_FAILED" || error.code === "TIMED_OUT") {
    return "The service does not answer. What you see may be out of date.";
  }
  if (error.requiredScopes.length > 0) return `Your role lacks ${error.requiredScopes.join(" and ")}.`;
  return error.message;
}
