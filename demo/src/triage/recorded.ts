import type { QuestionName } from './questions.js';
import type { Answer } from './state.js';

/** An answer as JSON: each entry as name, diagnosis, number in the clear, computed number, rank and flag. */
export interface RecordedAnswer {
  readonly question: QuestionName;
  readonly set: string;
  readonly entries: readonly (readonly [name: string, malignant: 0 | 1, clear: number, number: number, rank: number, flag: number])[];
  readonly verdict?: number;
  readonly patient?: string;
  readonly malignant?: boolean;
  readonly least?: number;
  readonly seconds: number;
  readonly sent: number;
  readonly levels: readonly [number, number];
}

/** An answer to each question, and what made them. */
export interface RecordedAnswers {
  readonly made: string;
  readonly answers: readonly RecordedAnswer[];
}

/** Answers as they are kept, to ten digits. */
export function encode(made: string, answers: readonly Answer[]): RecordedAnswers {
  const short = (x: number): number => Number(x.toPrecision(10));
  return {
    made,
    answers: answers.map(({ recorded: _, entries, least, seconds, ...rest }) => ({
      ...rest,
      ...(least === undefined ? {} : { least }),
      seconds: short(seconds),
      entries: entries.map(({ name, malignant, clear, number, rank, flag }) => [name, malignant ? 1 : 0, short(clear), short(number), short(rank), short(flag)] as const),
    })) as RecordedAnswer[],
  };
}

/** Recorded answers as the page shows them. */
export function decode({ made, answers }: RecordedAnswers): Answer[] {
  return answers.map(({ entries, ...rest }) => ({
    ...rest,
    recorded: `${made}, with ${rest.set}`,
    entries: entries.map(([name, malignant, clear, number, rank, flag]) => ({ name, malignant: malignant === 1, clear, number, rank, flag })),
  }));
}
