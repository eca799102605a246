// Puts what two commands printed into the page "Which method when?" (src/recorded/methods.json):
//
//   refloat reproduce scheme-switching --crossing --json > crossing.json
//   refloat reproduce demystifying --json > survey.json
//   node demo/scripts/record-methods.mjs crossing.json survey.json
import { readFileSync } from 'node:fs';
import { keep } from './recording.mjs';

const [crossingFile, surveyFile] = process.argv.slice(2);
if (!crossingFile || !surveyFile) throw new Error('which files? node demo/scripts/record-methods.mjs crossing.json survey.json');

function printed(file, suite) {
  const document = JSON.parse(readFileSync(file, 'utf8'));
  if (document.suite !== suite) throw new Error(`${file} is of ${document.suite}, not of ${suite}`);
  const { source, machine, rows } = document;
  const wrong = rows.filter((row) => row.wrong > 0 || row.failed);
  if (wrong.length > 0) throw new Error(`${file} has rows that failed: ${JSON.stringify(wrong)}`);
  return { source, machine, rows };
}

const recorded = { crossing: printed(crossingFile, 'scheme-switching-crossing'), survey: printed(surveyFile, 'demystifying') };
const size = keep('methods', recorded);
process.stdout.write(`recorded ${recorded.crossing.rows.length} and ${recorded.survey.rows.length} rows, ${size} bytes\n`);
