// Three bulks at once of 100 checks about 100 subjects each of 10,000 grants, none of which is in memory.

import { runAttack } from '../attacker/attack-run.ts';
import { askColdBulks } from '../attacker/cold-questions.ts';

runAttack((target, run) => askColdBulks(target, run, 3));
