#pragma once

#include <heed/layers/attention.h>
#include <heed/layers/cache.h>
#include <heed/layers/dropout.h>
#include <heed/layers/embedding.h>
#include <heed/layers/gradcheck.h>
#include <heed/layers/init.h>
#include <heed/layers/linear.h>
#include <heed/layers/mlp.h>
#include <heed/layers/norm.h>
#include <heed/layers/positions.h>
#include <heed/layers/recorder.h>
#include <heed/layers/transformer.h>
#include <heed/layers/visitor.h>
