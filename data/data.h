#pragma once

// Tasks, text and batches: the whole public data room.

#include <heed/data/batch.h>
#include <heed/data/counted_task.h>
#include <heed/data/drawn_task.h>
#include <heed/data/numbers.h>
#include <heed/data/option.h>
#include <heed/data/registry.h>
#include <heed/data/suggest.h>
#include <heed/data/task.h>
#include <heed/data/tasks/copy.h>
#include <heed/data/tasks/rows.h>
#include <heed/data/tasks/tasks.h>
#include <heed/data/tasks/text.h>
#include <heed/data/text/bytes.h>
#include <heed/data/text/corpus.h>
#include <heed/data/text/tokenizer.h>
#include <heed/data/text/utf8.h>
#include <heed/data/text/words.h>
