/** A failed request: the API's own sentence or those about its fields, the id of the request for support, and what can be done. */
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
  const all = known?.details ?? [];
  // A sentence that joins those about fields has the names that programs use.
  const isOfFields = all.length > 0 && known?.message === all.map(({ message }) => message).join("; ");
  const details = isOfFields ? all : all.filter(({ message }) => !known?.message.includes(message));
  return (
    <div role="alert" className="border-l-2 border-bad px-4 py-3">
      {!isOfFields && <p className="font-medium">{sentenceOf(error)}</p>}
      {details.map((detail) => (
        <p key={`${detail.field} ${detail.message}`} className={isOfFields ? "font-medium" : "text-muted"}>
          {fieldInWords(detail.field)}: {sentenceAtField(detail)}
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

/** "attachments[0].content_type" → "Attachments 1 content type" */
function fieldInWords(field: string): string {
  const words = field.replaceAll(/\[(\d+)\]/g, (_, index: string) => ` ${Number(index) + 1}`);
  return (words.charAt(0).toUpperCase() + words.slice(1)).replaceAll(/[._]/g, " ");
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
