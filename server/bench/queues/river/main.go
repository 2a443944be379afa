// Measures River: `river CONNECTION JOBS RATE`. First it drains JOBS jobs that do nothing, and then
// it inserts jobs at RATE a second for 10 seconds. Prints one JSON object: jobs_per_s, and the
// milliseconds from before a job is inserted until it runs.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const (
	// River's own benchmark lets so many jobs run at once.
	workers    = 2_000
	insertSize = 5_000
	paced      = 10 * time.Second
)

// Nothing is a job that does nothing. A job of the paced part has the time of its insertion.
type Nothing struct {
	InsertedNs int64 `json:"inserted_ns"`
}

func (Nothing) Kind() string { return "nothing" }

type worker struct {
	river.WorkerDefaults[Nothing]
	left  *atomic.Int64
	done  chan struct{}
	mutex sync.Mutex
	waits []float64
}

func (w *worker) Work(_ context.Context, job *river.Job[Nothing]) error {
	if job.Args.InsertedNs > 0 {
		wait := float64(time.Now().UnixNano()-job.Args.InsertedNs) / 1e6
		w.mutex.Lock()
		w.waits = append(w.waits, wait)
		w.mutex.Unlock()
	}
	if w.left.Add(-1) == 0 {
		w.done <- struct{}{}
	}
	return nil
}

func main() {
	if err := measure(os.Args[1], number(os.Args[2]), number(os.Args[3])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return value
}

func measure(connection string, jobs, rate int) error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, connection)
	if err != nil {
		return err
	}
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return err
	}
	if _, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	work := &worker{left: &atomic.Int64{}, done: make(chan struct{}, 1)}
	all := river.NewWorkers()
	river.AddWorker(all, work)
	client, err := river.NewClient(driver, &river.Config{
		Logger:  slog.New(slog.DiscardHandler),
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}},
		Workers: all,
	})
	if err != nil {
		return err
	}
	if err = insert(ctx, client, jobs); err != nil {
		return err
	}
	work.left.Store(int64(jobs))
	begun := time.Now()
	if err = client.Start(ctx); err != nil {
		return err
	}
	<-work.done
	if err = wait(ctx, pool); err != nil {
		return err
	}
	seconds := time.Since(begun).Seconds()
	if err = pace(ctx, client, work, rate); err != nil {
		return err
	}
	if err = client.Stop(ctx); err != nil {
		return err
	}
	sort.Float64s(work.waits)
	at := func(share float64) float64 {
		return work.waits[min(len(work.waits)-1, int(float64(len(work.waits))*share))]
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"jobs_per_s": float64(jobs) / seconds, "p50_ms": at(0.5), "p99_ms": at(0.99)})
}

func insert(ctx context.Context, client *river.Client[pgx.Tx], jobs int) error {
	for done := 0; done < jobs; done += insertSize {
		rows := make([]river.InsertManyParams, min(insertSize, jobs-done))
		for i := range rows {
			rows[i].Args = Nothing{}
		}
		if _, err := client.InsertManyFast(ctx, rows); err != nil {
			return err
		}
	}
	return nil
}

// wait returns when each job is done in the database.
func wait(ctx context.Context, pool *pgxpool.Pool) error {
	for {
		var left int
		row := pool.QueryRow(ctx, "SELECT count(*) FROM (SELECT FROM river_job WHERE state <> 'completed' LIMIT 1) AS one")
		if err := row.Scan(&left); err != nil {
			return err
		}
		if left == 0 {
			return nil
		}
	}
}

func pace(ctx context.Context, client *river.Client[pgx.Tx], work *worker, rate int) error {
	jobs := int(paced.Seconds()) * rate
	work.left.Store(int64(jobs))
	turns := make(chan struct{}, 64)
	failed := make(chan error, 1)
	start := time.Now()
	for n := 0; n < jobs; {
		due := min(jobs, int(time.Since(start).Seconds()*float64(rate)))
		for ; n < due; n++ {
			turns <- struct{}{}
			go func() {
				defer func() { <-turns }()
				if _, err := client.Insert(ctx, Nothing{InsertedNs: time.Now().UnixNano()}, nil); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}()
		}
		time.Sleep(time.Millisecond)
	}
	select {
	case <-work.done:
		return nil
	case err := <-failed:
		return err
	}
}
