/** The steps of an import. What is chosen in one stays when another is looked at again. */
import { Check } from "lucide-react";
import { useState } from "react";
import { LeaveQuestion } from "../../parts/leave-question.tsx";
import { ColumnsStep } from "./columns-step.tsx";
import { FileStep } from "./file-step.tsx";
import { beginOptions, type ImportOptions } from "./options.ts";
import { OptionsStep } from "./options-step.tsx";
import { TrialStep } from "./trial-step.tsx";
import type { Reading } from "./use-file-columns.ts";

const steps = ["File", "Columns", "Rules", "Trial run"] as const;
type Step = 0 | 1 | 2 | 3;

const asFound: Reading = { encoding: "", hasHeader: undefined };

export function ImportWizard({ listId, listName }: { readonly listId: string; readonly listName: string }) {
  const [step, setStep] = useState<Step>(0);
  const [file, setFile] = useState<File>();
  const [reading, setReading] = useState(asFound);
  const [chosen, setChosen] = useState<ReadonlyMap<number, string>>(new Map());
  const [options, setOptions] = useState<ImportOptions>(beginOptions);
  const begin = (next: File) => {
    setFile(next);
    setReading(asFound);
    setChosen(new Map());
    setStep(1);
  };
  const part = { listId, reading, chosen };
  return (
    <>
      <Steps current={step} onGo={setStep} />
      <StepHeading key={step} name={steps[step]} isMoved={file !== undefined} />
      {step === 0 && <FileStep current={file} onFile={begin} onKeep={() => setStep(1)} />}
      {step === 1 && file && (
        <ColumnsStep
          {...part}
          file={file}
          onReading={setReading}
          onChoose={(position, target) => setChosen(new Map(chosen).set(position, target))}
          onNext={() => setStep(2)}
        />
      )}
      {step === 2 && file && (
        <OptionsStep options={options} onChange={setOptions} onNext={() => setStep(3)} listName={listName} />
      )}
      <LeaveQuestion isChanged={file !== undefined} title="Leave without importing?">
        The file, and what you chose for its columns, are lost when you leave.
      </LeaveQuestion>
      {step === 3 && file && <TrialStep {...part} file={file} options={options} listName={listName} />}
    </>
  );
}

function focusOn(heading: HTMLElement | null) {
  heading?.focus();
}

/** Takes the focus when another step is shown, so that screen readers begin there. */
function StepHeading({ name, isMoved }: { readonly name: string; readonly isMoved: boolean }) {
  return (
    <h2 ref={isMoved ? focusOn : null} tabIndex={-1} className="sr-only">
      {name}
    </h2>
  );
}

/** Where one is; steps that are done can be seen again. */
function Steps({ current, onGo }: { readonly current: Step; readonly onGo: (step: Step) => void }) {
  return (
    <nav aria-label="Steps of the import" className="mb-6 border-b border-line pb-3">
      <ol className="flex flex-wrap gap-x-6 gap-y-1">
        {steps.map((name, index) => {
          const isDone = index < current;
          const mark = (
            <span
              aria-hidden
              className={`grid h-5 w-5 place-items-center rounded-full border text-[11px] ${index === current ? "border-accent bg-accent text-on-accent" : isDone ? "border-good text-good" : "border-control text-muted"}`}
            >
              {isDone ? <Check size={12} /> : index + 1}
            </span>
          );
          return (
            <li key={name} aria-current={index === current ? "step" : undefined}>
              {isDone ? (
                <button
                  type="button"
                  onClick={() => onGo(index as Step)}
                  className="flex min-h-7 items-center gap-2 rounded hover:underline"
                >
                  {mark} {name}
                </button>
              ) : (
                <span
                  className={`flex min-h-7 items-center gap-2 ${index === current ? "font-medium" : "text-muted"}`}
                >
                  {mark} {name}
                </span>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
