/** The steps of a Dockerfile, with the variables of its `ARG` and `ENV` instructions put in. */
import { type Copy, DockerfileParser, type From, type Instruction } from "dockerfile-ast";

export interface Stage {
  readonly name: string | undefined;
  /** The image that it begins with, such as `debian:bookworm-slim`. */
  readonly base: string;
  readonly steps: readonly Step[];
}

export interface Step {
  /** Such as `RUN`. */
  readonly keyword: string;
  /** What follows, in one piece: the command of a `RUN`. */
  readonly text: string;
  /** The words, or those of a JSON array; none of a `RUN`. */
  readonly words: readonly string[];
  /** The stage that a `COPY` takes from, instead of the context of the build. */
  readonly from: string | undefined;
}

export function stagesOf(dockerfile: string): readonly Stage[] {
  const stages: (Stage & { readonly steps: Step[] })[] = [];
  const variables = new Map<string, string>();
  for (const instruction of DockerfileParser.parse(dockerfile).getInstructions()) {
    const keyword = instruction.getKeyword();
    if (keyword === "FROM") {
      const from = instruction as From;
      const base = withVariables(from.getImage() ?? "", variables);
      stages.push({ base, name: from.getBuildStage() ?? undefined, steps: [] });
      continue;
    }
    const step = stepOf(instruction, variables);
    if (keyword === "ARG" || keyword === "ENV") {
      for (const word of step.words) variables.set(word.replace(/=.*/s, ""), word.replace(/^[^=]*=?/, ""));
    }
    stages.at(-1)?.steps.push(step);
  }
  return stages;
}

function stepOf(instruction: Instruction, variables: ReadonlyMap<string, string>): Step {
  const keyword = instruction.getKeyword();
  const from =
    keyword === "COPY" ? ((instruction as Copy).getFromFlag()?.getValue() ?? undefined) : undefined;
  const text = (instruction.getArgumentsContent() ?? "").replaceAll(/\\\n/g, " ");
  // A shell, and what a JSON array names, have variables of their own.
  if (keyword === "RUN") return { keyword, text, words: [], from };
  const array = /\[.*\]$/s.exec(text)?.[0];
  if (array !== undefined) return { keyword, text, words: JSON.parse(array), from };
  const words = instruction.getArguments().map((word) => withVariables(word.getValue(), variables));
  return { keyword, text, words, from };
}

function withVariables(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_whole, name: string) => variables.get(name) ?? "");
}

/** What the last instruction of a kind says, such as the words of `CMD`. @throws Error if there is none */
export function lastOf(stage: Stage, keyword: string): Step {
  const found = stage.steps.findLast((step) => step.keyword === keyword);
  if (found === undefined) throw new Error(`no ${keyword}`);
  return found;
}
