/**
 * A refused form: the API's own sentence, what went wrong with a passkey, or, where attempts are limited, a countdown on the button
 * until the form works again.
 */
import { PosthasteError } from "@posthaste/client";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { Failure } from "./failure.tsx";
import { say } from "./live-region.ts";
import { PasskeyError } from "./passkey.ts";

interface Props {
  readonly error: unknown;
  readonly isPending: boolean;
  /** The act on the button. */
  readonly children: string;
  readonly kind?: "primary" | "plain";
}

export function Submit({ error, isPending, children, kind = "primary" }: Props) {
  const seconds = useWait(error);
  return (
    <>
      <Refusal error={error} />
      <Button
        type="submit"
        kind={kind}
        className={kind === "primary" ? "h-10" : ""}
        isPending={isPending}
        isDisabled={seconds > 0}
      >
        {seconds > 0 ? `Wait ${clockText(seconds)}` : children}
      </Button>
    </>
  );
}

/** Says nothing where fields of the form say it all (`validationErrors`). */
export function Refusal({ error }: { readonly error: unknown }) {
  const place = useRef<HTMLDivElement>(null);
  const [isAtFields, setAtFields] = useState(false);
  useLayoutEffect(() => {
    const fields = place.current?.closest("form")?.elements;
    const details = error instanceof PosthasteError ? error.details : [];
    setAtFields(details.length > 0 && details.every(({ field }) => fields?.namedItem(field)));
  }, [error]);
  return (
    <div ref={place} className="contents">
      {error instanceof PasskeyError ? (
        <p role="alert" className="border-l-2 border-bad px-4 py-3 font-medium">
          {error.message}
        </p>
      ) : (
        error !== null && error !== undefined && !isAtFields && <Failure error={error} />
      )}
    </div>
  );
}

/** Seconds until a call that was refused by a limit can succeed; 0 for other errors. */
function useWait(error: unknown): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const wait = error instanceof PosthasteError && error.status === 429 ? (error.retryAfter ?? 0) : 0;
    const end = Date.now() + wait * 1_000;
    const count = () => {
      const next = Math.max(0, Math.ceil((end - Date.now()) / 1_000));
      setLeft(next);
      if (next > 0 || wait === 0) return;
      clearInterval(timer);
      say("You can try again now");
    };
    const timer = setInterval(count, 1_000);
    count();
    return () => clearInterval(timer);
  }, [error]);
  return left;
}

/** `0:42`, `14:03` */
function clockText(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
