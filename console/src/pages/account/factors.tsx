/** Second factors: authenticator apps, passkeys, and the recovery codes that replace them once. */
import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { KeyRound, Smartphone } from "lucide-react";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { apiOf } from "../../api/client.ts";
import { useSignInWays } from "../../api/sign-in-ways.ts";
import { Button } from "../../parts/button.tsx";
import { Question } from "../../parts/dialog.tsx";
import { Failure } from "../../parts/failure.tsx";
import { counted } from "../../parts/numbers.ts";
import { Panel } from "../../parts/page.tsx";
import { hasPasskeys } from "../../parts/passkey.ts";
import { AddApp } from "./add-app.tsx";
import { AddPasskey } from "./add-passkey.tsx";
import { FactorRow } from "./factor-row.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";

type Added = Schema<"NewSecondFactor">;

const api = apiOf(undefined);

export function Factors() {
  const { data: ways } = useSignInWays();
  const [adding, setAdding] = useState<"app" | "passkey">();
  const [codes, setCodes] = useState<readonly string[]>();
  const { data, error, refetch } = useQuery({
    queryKey: ["factors"],
    queryFn: ({ signal }) => api.listSecondFactors({ signal }),
  });
  const onAdded = ({ recovery_codes }: Added) => {
    setAdding(undefined);
    if (recovery_codes) setCodes(recovery_codes);
  };
  const count = data?.factors.length ?? 0;
  return (
    <Panel
      title="Second factors"
      acts={
        <>
          {ways?.passkeys && hasPasskeys() && (
            <Button onPress={() => setAdding("passkey")}>
              <KeyRound size={15} aria-hidden /> Add a passkey
            </Button>
          )}
          <Button onPress={() => setAdding("app")}>
            <Smartphone size={15} aria-hidden /> Add an app
          </Button>
        </>
      }
    >
      {error && <Failure error={error} onRetry={refetch} />}
      {data && count === 0 && (
        <p className="text-muted">
          With a second factor, a stolen password is not enough to sign in. A passkey is the easiest.
        </p>
      )}
      {count > 0 && (
        <ul>
          {data?.factors.map((factor) => (
            <FactorRow key={factor.id} factor={factor} isLast={count === 1} />
          ))}
        </ul>
      )}
      {data && count > 0 && <CodesLeft left={data.recovery_codes_left} onMade={setCodes} />}
      {adding === "app" && <AddApp onClose={() => setAdding(undefined)} onAdded={onAdded} />}
      {adding === "passkey" && <AddPasskey onClose={() => setAdding(undefined)} onAdded={onAdded} />}
      {codes && <RecoveryCodes codes={codes} onClose={() => setCodes(undefined)} />}
    </Panel>
  );
}

function CodesLeft({
  left,
  onMade,
}: {
  readonly left: number;
  readonly onMade: (codes: readonly string[]) => void;
}) {
  const [isAsked, setAsked] = useState(false);
  const make = useAct({
    run: () => api.createRecoveryCodes(),
    changes: ["factors"],
    done: "There are new recovery codes",
    onDone: ({ recovery_codes }) => {
      setAsked(false);
      onMade(recovery_codes);
    },
  });
  return (
    <div className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-2">
      <p className={`min-w-0 flex-1 ${left < 3 ? "text-warning" : ""}`}>
        {counted(left, "recovery code")} left. Each replaces a second factor once.
      </p>
      <Button kind="quiet" onPress={() => setAsked(true)}>
        Make new codes
      </Button>
      <Question
        title="Make new recovery codes?"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        act="Make new codes"
        onConfirm={() => make.mutate()}
        isPending={make.isPending}
        error={make.error}
      >
        The {counted(left, "code")} that you have kept stop working.
      </Question>
    </div>
  );
}
